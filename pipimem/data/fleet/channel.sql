create table if not exists channel (
    id text primary key,
    due timestamptz,
    mark text
);
create index if not exists channel_due on channel (due) where due is not null;
