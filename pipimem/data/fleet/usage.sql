-- Calls of models by all hosts, and what requests under way may cost at most. No text of memory.
create table if not exists usage (
    id bigint generated always as identity primary key,
    line text not null unique,
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
    prompt text not null
);
create index if not exists usage_at on usage (at);
create table if not exists reservation (
    name text primary key,
    until timestamptz not null,
    fields jsonb not null
);
