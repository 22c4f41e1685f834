-- What a bot's role may do with the tables of pipimem and of Procrastinate, and nothing else.
grant usage on schema pipimem, pipimem_views to pipimem_bot;
grant select, insert, update, delete on all tables in schema pipimem, pipimem_views to pipimem_bot;
grant select, insert, update, delete on
    procrastinate_jobs, procrastinate_events, procrastinate_periodic_defers, procrastinate_workers
    to pipimem_bot;
grant usage on
    sequence procrastinate_jobs_id_seq, procrastinate_events_id_seq,
    procrastinate_periodic_defers_id_seq, procrastinate_workers_id_seq
    to pipimem_bot;
