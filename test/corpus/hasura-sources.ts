import type { Source } from './prisma-sources.ts';

/** Tables of the metadata, by name: what stands in the file of each. */
type Tables = Readonly<Record<string, object>>;

export interface HasuraSource extends Source {
  readonly tables: Tables;
}

const own = { _eq: 'X-Hasura-User-Id' };

const one = (name: string, column: string) => ({
  name,
  using: { foreign_key_constraint_on: column },
});

const many = (name: string, table: string, column: string) => ({
  name,
  using: { foreign_key_constraint_on: { column, table: { schema: 'public', name: table } } },
});

const select = (role: string, columns: '*' | readonly string[], filter: object, more = {}) => ({
  role,
  permission: { columns, filter, ...more },
});

const insert = (role: string, columns: readonly string[], check: object, set = {}) => ({
  role,
  permission: { check, set, columns },
});

const update = (role: string, columns: readonly string[], filter: object) => ({
  role,
  permission: { columns, filter, check: null },
});

const remove = (role: string, filter: object) => ({ role, permission: { filter } });

/** Metadata of projects of Hasura, over tables that are written here. */
export const HASURA_SOURCES: readonly HasuraSource[] = [
  {
    name: '5stack',
    constructs:
      'enum tables, computed fields, event triggers, inherited roles, relationships by hand, _exists, bigint keys of no sequence',
    text: `
      create table e_match_status (value text primary key, description text not null);
      insert into e_match_status values ('Live', ''), ('Finished', '');
      create table players (steam_id bigint primary key, name text not null, role text not null default 'user', created_at timestamptz not null default now());
      create table teams (id uuid primary key default gen_random_uuid(), name text not null unique, owner_steam_id bigint not null references players (steam_id));
      create table matches (id uuid primary key default gen_random_uuid(), label text, status text not null references e_match_status (value), organizer_steam_id bigint references players (steam_id), created_at timestamptz not null default now());
      create table match_lineups (id uuid primary key default gen_random_uuid(), match_id uuid not null references matches (id), team_id uuid references teams (id));
      create table player_kills (match_id uuid not null references matches (id), round integer not null, attacker_steam_id bigint not null, time timestamptz not null, "with" text, primary key (match_id, round, time));
      create view v_player_totals as select attacker_steam_id, count(*) as kills from player_kills group by 1;`,
    tables: {
      e_match_status: {
        is_enum: true,
        array_relationships: [many('matches', 'matches', 'status')],
        select_permissions: [select('guest', '*', {})],
      },
      players: {
        array_relationships: [many('teams', 'teams', 'owner_steam_id')],
        select_permissions: [
          select('user', ['steam_id', 'name'], {}, { allow_aggregations: true }),
        ],
        computed_fields: [
          { name: 'elo', definition: { function: { name: 'get_elo', schema: 'public' } } },
        ],
      },
      teams: {
        object_relationships: [one('owner', 'owner_steam_id')],
        select_permissions: [select('user', '*', {})],
        update_permissions: [update('user', ['name'], { owner_steam_id: own })],
      },
      matches: {
        object_relationships: [
          one('organizer', 'organizer_steam_id'),
          one('e_match_status', 'status'),
        ],
        array_relationships: [many('lineups', 'match_lineups', 'match_id')],
        select_permissions: [
          select('user', '*', {
            _or: [{ status: { _in: ['Live', 'Finished'] } }, { organizer_steam_id: own }],
          }),
          select('guest', ['id', 'status'], {
            _exists: { _table: { schema: 'public', name: 'teams' }, _where: {} },
          }),
        ],
        event_triggers: [
          {
            name: 'match_events',
            definition: { enable_manual: true },
            webhook: 'http://localhost/events',
          },
        ],
      },
      match_lineups: { object_relationships: [one('match', 'match_id'), one('team', 'team_id')] },
      player_kills: {
        object_relationships: [
          one('match', 'match_id'),
          {
            name: 'attacker',
            using: {
              manual_configuration: {
                remote_table: { schema: 'public', name: 'players' },
                column_mapping: { attacker_steam_id: 'steam_id' },
              },
            },
          },
        ],
      },
      v_player_totals: { select_permissions: [select('user', '*', {})] },
    },
  },
  {
    name: 'bonde',
    constructs:
      'anonymous reads, presets of the caller, filters through relations, counts, custom root fields, citext, jsonb, serial keys',
    users: { user: 'User', fields: { firstName: 'Ada' } },
    text: `
      create extension if not exists citext;
      create table users (id serial primary key, email citext not null unique, first_name text, locale text not null default 'pt-BR', is_admin boolean default false);
      create table communities (id serial primary key, name text not null, city text, signature jsonb, created_at timestamp default now());
      create table community_users (id serial primary key, user_id integer not null references users (id), community_id integer not null references communities (id), role integer);
      create table mobilizations (id serial primary key, name text not null, slug text unique, status text default 'draft', community_id integer references communities (id), user_id integer references users (id), traefik_host_rule text);
      create table blocks (id serial primary key, mobilization_id integer references mobilizations (id), bg_class text, position integer, hidden boolean, deleted_at timestamp);
      create table widgets (id serial primary key, block_id integer references blocks (id), settings jsonb, kind text, goal numeric(8,2));
      create table form_entries (id serial primary key, widget_id integer references widgets (id), fields text, synchronized boolean, created_at timestamp not null default now());`,
    tables: {
      users: {
        array_relationships: [many('community_users', 'community_users', 'user_id')],
        select_permissions: [select('user', ['id', 'email', 'first_name'], { id: own })],
        update_permissions: [update('user', ['first_name', 'locale'], { id: own })],
      },
      communities: {
        configuration: { custom_root_fields: { select: 'groups' } },
        array_relationships: [
          many('community_users', 'community_users', 'community_id'),
          many('mobilizations', 'mobilizations', 'community_id'),
        ],
        select_permissions: [
          select(
            'user',
            ['id', 'name', 'city'],
            { community_users: { user_id: own } },
            { allow_aggregations: true },
          ),
          select('anonymous', ['id', 'name'], {}),
        ],
      },
      community_users: {
        object_relationships: [one('user', 'user_id'), one('community', 'community_id')],
        select_permissions: [select('user', '*', { user_id: own })],
        delete_permissions: [remove('user', { _and: [{ role: { _eq: 1 } }, { user_id: own }] })],
      },
      mobilizations: {
        object_relationships: [one('community', 'community_id'), one('user', 'user_id')],
        array_relationships: [many('blocks', 'blocks', 'mobilization_id')],
        select_permissions: [
          select('anonymous', ['id', 'name', 'slug'], { status: { _eq: 'active' } }),
          select('user', '*', { community: { community_users: { user_id: own } } }),
        ],
        insert_permissions: [
          insert(
            'user',
            ['name', 'slug', 'community_id'],
            { community: { community_users: { user_id: own } } },
            { user_id: 'x-hasura-User-Id' },
          ),
        ],
      },
      blocks: {
        object_relationships: [one('mobilization', 'mobilization_id')],
        array_relationships: [many('widgets', 'widgets', 'block_id')],
        select_permissions: [
          select('anonymous', ['id', 'position'], { deleted_at: { _is_null: true } }),
        ],
      },
      widgets: {
        object_relationships: [one('block', 'block_id')],
        array_relationships: [many('form_entries', 'form_entries', 'widget_id')],
      },
      form_entries: {
        object_relationships: [one('widget', 'widget_id')],
        insert_permissions: [insert('anonymous', ['fields', 'widget_id'], {})],
      },
    },
  },
  {
    name: 'jore4',
    constructs:
      'two sources, remote relationships, exclusion and check constraints, ranges, jsonb names, no permissions at all, customisation, views',
    without: { OperatingPeriod: 'values of interval are answered as text and cannot be written' },
    text: `
      create extension if not exists btree_gist;
      create table line (line_id uuid primary key default gen_random_uuid(), name_i18n jsonb not null, label text not null, priority integer not null, validity_start date, validity_end date);
      create table route (route_id uuid primary key default gen_random_uuid(), on_line_id uuid not null references line (line_id), label text not null, direction text not null check (direction in ('inbound', 'outbound')), variant smallint, validity daterange);
      create table journey_pattern (journey_pattern_id uuid primary key default gen_random_uuid(), on_route_id uuid not null references route (route_id) on delete cascade);
      create table scheduled_stop_point (scheduled_stop_point_id uuid primary key default gen_random_uuid(), label text not null, located_on text, relative_distance double precision generated always as (1.5) stored);
      create table stop_in_pattern (journey_pattern_id uuid not null references journey_pattern (journey_pattern_id), scheduled_stop_point_sequence integer not null, stop_id uuid not null references scheduled_stop_point (scheduled_stop_point_id), is_used_as_timing_point boolean not null default false, primary key (journey_pattern_id, scheduled_stop_point_sequence));
      create table operating_period (id uuid primary key default gen_random_uuid(), span interval, valid daterange, exclude using gist (valid with &&));
      create view direction as select distinct direction from route;`,
    tables: {
      line: {
        configuration: { column_config: { name_i18n: { custom_name: 'nameTexts' } } },
        array_relationships: [many('line_routes', 'route', 'on_line_id')],
        remote_relationships: [
          {
            name: 'timetables',
            definition: {
              to_source: {
                source: 'timetables',
                relationship_type: 'array',
                table: { schema: 'public', name: 'frame' },
                field_mapping: { line_id: 'line_id' },
              },
            },
          },
        ],
      },
      route: {
        object_relationships: [one('route_line', 'on_line_id')],
        array_relationships: [many('route_journey_patterns', 'journey_pattern', 'on_route_id')],
      },
      journey_pattern: {
        object_relationships: [one('journey_pattern_route', 'on_route_id')],
        array_relationships: [many('stops', 'stop_in_pattern', 'journey_pattern_id')],
      },
      scheduled_stop_point: {
        array_relationships: [many('in_patterns', 'stop_in_pattern', 'stop_id')],
      },
      stop_in_pattern: {
        object_relationships: [
          one('journey_pattern', 'journey_pattern_id'),
          one('scheduled_stop_point', 'stop_id'),
        ],
      },
      operating_period: {},
      direction: {},
    },
  },
  {
    name: 'rolebase',
    constructs:
      'custom names in camelCase, uuid keys, deep filters with _and and _or, _not, soft deletes, limits, enum tables, text arrays',
    users: { user: 'User', fields: { name: 'Ada' } },
    text: `
      create table member_role (value text primary key, comment text);
      insert into member_role values ('Member', ''), ('Admin', '');
      create table users (id uuid primary key default gen_random_uuid(), email text not null unique, name text not null default '', timezone text);
      create table org (id uuid primary key default gen_random_uuid(), name text not null, archived boolean not null default false, "default_workflow" text, slug text unique);
      create table member (id uuid primary key default gen_random_uuid(), "orgId" uuid not null references org (id), "userId" uuid references users (id), name text not null, role text references member_role (value), "workedMinPerWeek" integer);
      create table circle (id uuid primary key default gen_random_uuid(), "orgId" uuid not null references org (id), "parentId" uuid references circle (id), archived boolean not null default false);
      create table circle_member (id uuid primary key default gen_random_uuid(), "circleId" uuid not null references circle (id), "memberId" uuid not null references member (id), unique ("circleId", "memberId"));
      create table task (id uuid primary key default gen_random_uuid(), "orgId" uuid not null references org (id), "circleId" uuid references circle (id), "memberId" uuid references member (id), title text not null, "dueDate" timestamptz, status text not null default 'Open', tags text[] not null default '{}');`,
    tables: {
      member_role: { is_enum: true },
      users: {
        array_relationships: [many('members', 'member', 'userId')],
        select_permissions: [
          select('user', ['id', 'name', 'email'], {
            _or: [{ id: own }, { members: { org: { members: { userId: own } } } }],
          }),
        ],
      },
      org: {
        configuration: {
          custom_name: 'Org',
          custom_column_names: { default_workflow: 'defaultWorkflow' },
        },
        array_relationships: [
          many('members', 'member', 'orgId'),
          many('circles', 'circle', 'orgId'),
        ],
        select_permissions: [
          select(
            'user',
            ['id', 'name', 'slug'],
            { _and: [{ archived: { _eq: false } }, { members: { userId: own } }] },
            { limit: 100 },
          ),
        ],
        update_permissions: [
          update('user', ['name', 'slug'], {
            members: { _and: [{ userId: own }, { role: { _eq: 'Admin' } }] },
          }),
        ],
      },
      member: {
        object_relationships: [one('org', 'orgId'), one('user', 'userId')],
        select_permissions: [select('user', '*', { org: { members: { userId: own } } })],
      },
      circle: {
        object_relationships: [one('org', 'orgId'), one('parent', 'parentId')],
        array_relationships: [
          many('children', 'circle', 'parentId'),
          many('members', 'circle_member', 'circleId'),
        ],
        select_permissions: [select('user', '*', { _not: { archived: { _eq: true } } })],
      },
      circle_member: {
        object_relationships: [one('circle', 'circleId'), one('member', 'memberId')],
      },
      task: {
        object_relationships: [
          one('org', 'orgId'),
          one('circle', 'circleId'),
          one('member', 'memberId'),
        ],
        select_permissions: [
          select('user', '*', { org: { members: { userId: own } } }, { allow_aggregations: true }),
        ],
        insert_permissions: [
          insert('user', ['orgId', 'circleId', 'memberId', 'title'], {
            org: { members: { userId: own } },
          }),
        ],
        delete_permissions: [remove('user', { member: { userId: own } })],
      },
    },
  },
  {
    name: 'coordinape',
    constructs:
      'many roles, session variables of its own, _ilike, relationships by hand in both directions, bigint keys, numeric, limits on rows, timestamps without a zone',
    text: `
      create table organizations (id bigserial primary key, name varchar(255) not null, is_verified boolean not null default false, created_at timestamp(0) default now());
      create table circles (id bigserial primary key, name varchar(255) not null, organization_id bigint not null references organizations (id), fixed_payment_vault_id bigint, min_vouches integer not null default 2, deleted_at timestamp);
      create table profiles (id bigserial primary key, address varchar(255) not null unique, name varchar(255), bio text, admin_view boolean not null default false);
      create table members (id bigserial primary key, address varchar(255) not null, circle_id bigint not null references circles (id), profile_id bigint references profiles (id), starting_tokens integer not null default 100, fixed_payment_amount numeric(20,2) not null default 0, deleted_at timestamp);
      create table epochs (id bigserial primary key, circle_id bigint references circles (id), number integer, start_date timestamptz not null default now(), grant_total numeric not null default 0, repeat_data jsonb);
      create table token_gifts (id bigserial primary key, epoch_id bigint references epochs (id), sender_id bigint not null references members (id), recipient_id bigint not null references members (id), tokens integer not null, note text, dts_created timestamp not null default now());
      create table vouches (id serial primary key, voucher_id integer not null, nominee_id integer not null);`,
    tables: {
      organizations: {
        array_relationships: [many('circles', 'circles', 'organization_id')],
        select_permissions: [
          select('user', ['id', 'name'], { circles: { members: { profile_id: own } } }),
        ],
      },
      circles: {
        object_relationships: [one('organization', 'organization_id')],
        array_relationships: [
          many('epochs', 'epochs', 'circle_id'),
          many('members', 'members', 'circle_id'),
        ],
        select_permissions: [
          select('user', ['id', 'name', 'organization_id'], {
            _and: [{ deleted_at: { _is_null: true } }, { members: { profile_id: own } }],
          }),
          select('api-user', ['id', 'name'], { id: { _eq: 'X-Hasura-Circle-Id' } }),
        ],
      },
      profiles: {
        array_relationships: [many('members', 'members', 'profile_id')],
        select_permissions: [
          select('user', ['id', 'name', 'address'], { name: { _ilike: '%a%' } }, { limit: 50 }),
          select('anon', ['id', 'name'], {}),
        ],
      },
      members: {
        object_relationships: [one('circle', 'circle_id'), one('profile', 'profile_id')],
        array_relationships: [
          many('sent', 'token_gifts', 'sender_id'),
          many('received', 'token_gifts', 'recipient_id'),
        ],
        select_permissions: [
          select('user', ['id', 'circle_id', 'profile_id'], {
            circle: { members: { profile_id: own } },
          }),
        ],
      },
      epochs: {
        object_relationships: [one('circle', 'circle_id')],
        array_relationships: [many('gifts', 'token_gifts', 'epoch_id')],
        select_permissions: [
          select(
            'user',
            '*',
            { circle: { deleted_at: { _is_null: true } } },
            { allow_aggregations: true },
          ),
        ],
      },
      token_gifts: {
        object_relationships: [
          one('epoch', 'epoch_id'),
          one('sender', 'sender_id'),
          one('recipient', 'recipient_id'),
        ],
        select_permissions: [
          select('user', ['id', 'tokens', 'sender_id', 'recipient_id'], {
            _or: [{ sender: { profile_id: own } }, { recipient: { profile_id: own } }],
          }),
        ],
        insert_permissions: [
          insert('user', ['epoch_id', 'recipient_id', 'tokens', 'note'], {
            sender: { profile_id: own },
          }),
        ],
      },
      vouches: {
        object_relationships: [
          {
            name: 'nominee',
            using: {
              manual_configuration: {
                remote_table: { schema: 'public', name: 'members' },
                column_mapping: { nominee_id: 'id' },
              },
            },
          },
        ],
      },
    },
  },
];
