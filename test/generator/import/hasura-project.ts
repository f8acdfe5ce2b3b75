/** A project of Hasura as its command line exports it: a list of tasks for several organizations. */

export const DATABASE = `
create type task_state as enum ('open', 'in-progress', 'done');
create table orgs (id uuid primary key default gen_random_uuid(), name text not null);
create table users (
  id serial primary key, email text not null unique, name text, org_id uuid references orgs (id), plan text not null default 'free');
create table projects (
  id serial primary key, name text not null, owner_id integer not null references users (id),
  org_id uuid references orgs (id), archived boolean);
create table project_members (
  project_id integer not null references projects (id), user_id integer not null references users (id),
  primary key (project_id, user_id));
create table tasks (
  id serial primary key, title text not null, state task_state not null default 'open', points integer, budget numeric(10,2),
  private_note text, project_id integer not null references projects (id), author_id integer not null references users (id),
  created_at timestamptz not null default now());
create table comments (
  id serial primary key, body text not null, approved boolean not null default false, task_id integer not null, user_id integer references users (id));
create table audit (id serial primary key, what text not null);
create table drafts (id serial primary key, title text not null);
create table untracked (id serial primary key, secret text);
create view task_counts as select project_id, count(*) as tasks from tasks group by project_id;
insert into orgs (id, name) values ('00000000-0000-0000-0000-00000000000a', 'A'), ('00000000-0000-0000-0000-00000000000b', 'B');
`;

/** Rows that name the users 1 (ann), 2 (bob), 3 (eve) and 4 (dan). */
export const ROWS = `
update users set org_id = '00000000-0000-0000-0000-00000000000a' where id in (1, 2);
update users set org_id = '00000000-0000-0000-0000-00000000000b' where id = 3;
insert into projects (name, owner_id, org_id, archived) values
  ('of ann', 1, '00000000-0000-0000-0000-00000000000a', false), ('of bob', 2, '00000000-0000-0000-0000-00000000000a', null),
  ('of eve', 3, '00000000-0000-0000-0000-00000000000b', true), ('without', 3, null, false);
insert into project_members values (1, 2), (3, 1), (3, 2);
insert into tasks (title, state, points, budget, private_note, project_id, author_id) values
  ('t1', 'open', 1, 1.50, 'n1', 1, 1), ('t2', 'in-progress', null, null, 'n2', 1, 2), ('t3', 'done', 8, 9.99, null, 2, 2),
  ('t4', 'done', 3, null, 'n4', 3, 3), ('t5', 'open', null, 0.10, 'n5', 4, 3);
insert into comments (body, approved, task_id, user_id) values
  ('c1', true, 1, 1), ('c2', false, 1, 2), ('c3', true, 3, 2), ('c4', false, 4, null), ('c5', true, 99, 1);
insert into audit (what) values ('a1');
insert into drafts (title) values ('d1');
`;

const table = (name: string, rest: string) => `table:\n  name: ${name}\n  schema: public\n${rest}`;

export const METADATA: Readonly<Record<string, string>> = {
  'version.yaml': 'version: 3\n',
  'actions.yaml': `actions:
  - name: sendMail
    definition: { kind: synchronous, handler: 'http://localhost/send' }
custom_types:
  enums: []
  input_objects: []
  objects: [{ name: MailOutput, fields: [{ name: ok, type: Boolean! }] }]
  scalars: []
`,
  'cron_triggers.yaml':
    '- name: nightly\n  webhook: http://localhost/nightly\n  schedule: 0 0 * * *\n',
  'remote_schemas.yaml': '- name: payments\n  definition: { url: "http://localhost/graphql" }\n',
  'feature_flags.yaml': '- name: beta\n',
  'databases/default/tables/public_lost.yaml': 'table: { name: lost, schema: public }\n',
  'inherited_roles.yaml': '- role_name: lead\n  role_set: [member, editor]\n',
  'allow_list.yaml': '[]\n',
  'network.yaml': '{}\n',
  'databases/databases.yaml': `- name: default
  kind: postgres
  configuration:
    connection_info:
      database_url: { from_env: HASURA_DATABASE_URL }
  tables: "!include default/tables/tables.yaml"
  functions: "!include default/functions/functions.yaml"
- name: warehouse
  kind: bigquery
  configuration: {}
  tables: []
`,
  'databases/default/functions/functions.yaml':
    '- function: { name: search_tasks, schema: public }\n',
  'databases/default/tables/tables.yaml': [
    'orgs',
    'users',
    'projects',
    'project_members',
    'tasks',
    'comments',
    'audit',
    'drafts',
    'task_counts',
  ]
    .map((name) => `- "!include public_${name}.yaml"\n`)
    .join(''),
  'databases/default/tables/public_orgs.yaml': table(
    'orgs',
    `array_relationships:
  - name: people
    using: { foreign_key_constraint_on: { column: org_id, table: { name: users, schema: public } } }
select_permissions:
  - role: member
    permission:
      columns: [id, name]
      filter: { id: { _eq: X-Hasura-Org-Id } }
`,
  ),
  'databases/default/tables/public_users.yaml': table(
    'users',
    `object_relationships:
  - name: org
    using: { foreign_key_constraint_on: org_id }
array_relationships:
  - name: memberships
    using: { foreign_key_constraint_on: { column: user_id, table: { name: project_members, schema: public } } }
select_permissions:
  - role: editor
    permission: { columns: '*', filter: {} }
  - role: member
    permission:
      columns: [id, email, name]
      filter:
        _or:
          - id: { _eq: X-Hasura-User-Id }
          - memberships: { project: { owner_id: { _eq: X-Hasura-User-Id } } }
update_permissions:
  - role: member
    permission:
      columns: [name]
      filter: { id: { _eq: X-Hasura-User-Id } }
      check: null
`,
  ),
  'databases/default/tables/public_projects.yaml': table(
    'projects',
    `configuration:
  custom_name: Board
  column_config:
    name: { custom_name: label }
object_relationships:
  - name: boss
    using: { foreign_key_constraint_on: owner_id }
array_relationships:
  - name: members
    using: { foreign_key_constraint_on: { column: project_id, table: { name: project_members, schema: public } } }
  - name: tasks
    using: { foreign_key_constraint_on: { column: project_id, table: { name: tasks, schema: public } } }
select_permissions:
  - role: anonymous
    permission:
      columns: [id, name]
      filter: { _not: { archived: { _eq: true } } }
  - role: member
    permission:
      columns: [id, name, owner_id, archived]
      filter:
        _or:
          - owner_id: { _eq: X-Hasura-User-Id }
          - members: { user_id: { _eq: X-Hasura-User-Id } }
      allow_aggregations: true
insert_permissions:
  - role: member
    permission:
      check: { boss: { id: { _eq: X-Hasura-User-Id } } }
      columns: [name]
      set: { owner_id: x-hasura-user-id }
delete_permissions:
  - role: member
    permission: { filter: { owner_id: { _eq: X-Hasura-User-Id } } }
`,
  ),
  'databases/default/tables/public_project_members.yaml': table(
    'project_members',
    `object_relationships:
  - name: project
    using: { foreign_key_constraint_on: project_id }
  - name: user
    using: { foreign_key_constraint_on: user_id }
select_permissions:
  - role: member
    permission:
      columns: [project_id, user_id]
      filter: { project: { owner_id: { _eq: X-Hasura-User-Id } } }
`,
  ),
  'databases/default/tables/public_tasks.yaml': table(
    'tasks',
    `object_relationships:
  - name: project
    using: { foreign_key_constraint_on: project_id }
array_relationships:
  - name: remarks
    using:
      manual_configuration:
        remote_table: { name: comments, schema: public }
        column_mapping: { id: task_id }
computed_fields:
  - name: urgency
    definition: { function: { name: task_urgency, schema: public } }
event_triggers:
  - name: task_changed
    definition: { enable_manual: false, update: { columns: '*' } }
    webhook: http://localhost/changed
select_permissions:
  - role: editor
    permission:
      columns: [id, title, state, points, budget, private_note, project_id, author_id, created_at]
      filter: { state: { _in: [open, in-progress] }, points: { _neq: 3 } }
  - role: member
    permission:
      columns: [id, title, state, project_id, author_id]
      filter:
        _and:
          - project: { _or: [{ owner_id: { _eq: X-Hasura-User-Id } }, { members: { user_id: { _eq: X-Hasura-User-Id } } }] }
          - _not: { points: { _gt: 5 } }
insert_permissions:
  - role: member
    permission:
      check: { project: { owner_id: { _eq: X-Hasura-User-Id } } }
      columns: [title, points, project_id]
      set: { author_id: X-Hasura-User-Id }
update_permissions:
  - role: member
    permission:
      columns: [title, state]
      filter: { author_id: { _eq: X-Hasura-User-Id } }
      check: { state: { _neq: done } }
  - role: editor
    permission:
      columns: [title]
      filter: {}
      check: {}
      set: { state: open }
delete_permissions:
  - role: member
    permission: { filter: { remarks: {}, author_id: { _eq: X-Hasura-User-Id } } }
`,
  ),
  'databases/default/tables/public_comments.yaml': table(
    'comments',
    `object_relationships:
  - name: task
    using:
      manual_configuration:
        remote_table: { name: tasks, schema: public }
        column_mapping: { task_id: id }
  - name: writer
    using: { foreign_key_constraint_on: user_id }
select_permissions:
  - role: anonymous
    permission: { columns: [id, body], filter: { approved: { _eq: true } } }
  - role: member
    permission:
      columns: [id, body, approved]
      filter: { writer: { org_id: { _eq: X-Hasura-Org-Id } } }
  - role: editor
    permission: { columns: [id, body, user_id], filter: { _not: { writer: {} } } }
`,
  ),
  'databases/default/tables/public_audit.yaml': table(
    'audit',
    `select_permissions:
  - role: editor
    permission: { columns: '*' }
  - role: member
    permission:
`,
  ),
  'databases/default/tables/public_drafts.yaml': table(
    'drafts',
    `select_permissions:
  - role: editor
    permission: { columns: '*', filter: { title: { _like: 'd%' } } }
  - role: member
    permission: { columns: '*', filter: {}, limit: 10 }
`,
  ),
  'databases/default/tables/public_task_counts.yaml': table(
    'task_counts',
    `select_permissions:
  - role: editor
    permission: { columns: '*', filter: { tasks: { _gte: 2 } } }
`,
  ),
};
