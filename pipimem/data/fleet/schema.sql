-- What several hosts agree on. The tables of channels are made in `pipimem_rows`, and seen through
-- views in `pipimem`.
create schema if not exists pipimem;
create schema if not exists pipimem_rows;
-- The locks of version 0.2, which no host of this version asks for.
drop table if exists pipimem.channel;

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

-- Calls of models by all hosts, and what requests under way may cost at most. No text of memory.
create table if not exists pipimem.usage (
    id bigint generated always as identity primary key,
    workspace text not null,
    line text not null,
    at timestamptz not null,
    time text not null,
    channel text not null,
    task text not null,
    model text not null,
    tokens_in bigint not null,
    tokens_out bigint not null,
    tokens_cached bigint not null,
    cost double precision,
    latency double precision not null,
    outcome text not null,
    correlation text not null,
    estimated_in bigint not null,
    estimated_out bigint not null,
    estimated_cost double precision,
    prompt text not null,
    unique (workspace, line)
);
create index if not exists usage_at on pipimem.usage (workspace, at);
create table if not exists pipimem.reservation (
    name text primary key,
    workspace text not null,
    until timestamptz not null,
    fields jsonb not null
);
