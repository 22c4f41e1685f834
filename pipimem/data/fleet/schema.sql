-- What several hosts agree on. No text of any conversation: ids, numbers, times.
create schema if not exists pipimem;

-- A lock that hosts take in turn. `fence` grows with each new owner. `taken_over`: an owner before
-- this one never gave it back, and may still be writing. `next_owner` waits for it.
create table if not exists pipimem.channel (
    id text primary key,
    fence bigint not null,
    owner text not null,
    attempt text not null default '',
    held boolean not null,
    taken_over boolean not null default false,
    until timestamptz not null,
    next_owner text not null default '',
    next_until timestamptz not null default '-infinity'
);
