-- What a bot's role may do with the tables of pipimem, and nothing else.
grant usage on schema pipimem, pipimem_views to pipimem_bot;
grant select, insert, update, delete on all tables in schema pipimem, pipimem_views to pipimem_bot;
