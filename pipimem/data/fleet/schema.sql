-- What several hosts agree on. The tables of channels and of workspaces are made in `pipimem_rows`,
-- and seen through views in `pipimem_views`.
create schema if not exists pipimem;
create schema if not exists pipimem_rows;
create schema if not exists pipimem_views;
-- Of version 0.2: locks, and calls that each host has in a file of its own as well.
drop table if exists pipimem.channel, pipimem.usage, pipimem.reservation;

-- A lock that hosts take in turn. `fence` grows with each hold. `taken_over`: a holder before this
-- one never gave it back, and may still be writing. `waiter` is next. `changed` is when the last
-- transaction under the lock was, in nanoseconds since 1970, and `writes` grows with each writing.
create table if not exists pipimem.lease (
    id text primary key,
    fence bigint not null,
    holder text not null,
    last_holder text not null default '',
    until timestamptz not null,
    taken_over boolean not null default false,
    waiter text not null default '',
    waiting_until timestamptz not null default '-infinity',
    changed bigint not null default 0,
    writes bigint not null default 0
);
-- When the idle work of a channel is due, and the mark of its files as they were last seen.
create table if not exists pipimem.visit (
    workspace text not null,
    id text not null,
    due timestamptz,
    mark text,
    primary key (workspace, id)
);
create index if not exists visit_due on pipimem.visit (workspace, due) where due is not null;
