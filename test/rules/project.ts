import type { Store } from '../../runtime/core/store/store.ts';

type Row = Readonly<Record<string, unknown>>;

/** Puts rows into tables, in their order. */
export async function insert(store: Store, rows: Readonly<Record<string, readonly Row[]>>) {
  for (const [table, list] of Object.entries(rows))
    for (const row of list) await store.db.insertInto(table).values(row).execute();
}

const bit = (store: Store, value: boolean) => (store.dialect === 'sqlite' ? Number(value) : value);

/** Tasks of projects with an owner and members, documents of companies, and notes. */
export const GATE = {
  manifest: 'name: gate\napi: { access: public }\nauth: {}\n',
  sdl: `
    enum Role { EDITOR VIEWER }
    type User { id: ID! email: String! name: String memberships: [Membership!]! }
    type Company { id: ID! name: String! docs: [Doc!]! }
    type Project @auth(allow: [PUBLIC]) {
      id: ID! name: String! owner: User members: [Membership!]!
      tasks(where: TaskFilter): [Task!]!
      taskCount: Int! @count(relation: "tasks") hasTasks: Boolean! @exists(relation: "tasks")
    }
    type Membership @auth(allow: [OWNER], owner: "user") { id: ID! project: Project! user: User! role: Role! }
    scalar DateTime
    type Task
      @auth(allow: [OWNER], owner: "project.owner")
      @auth(allow: [OWNER], owner: "project.members.user", on: [READ])
      @auth(allow: [USER], on: [UPDATE], where: { project: { members: { some: { user: { id: CALLER }, role: EDITOR } } } })
      @auth(allow: [PUBLIC], on: [READ], where: { published: true, archivedAt: null })
    { id: ID! title: String! published: Boolean! archivedAt: DateTime project: Project! }
    type Doc @auth(allow: [USER], on: [READ], where: { company: { id: { claim: "company.id" } } }) { id: ID! name: String! company: Company }
    type Secret @auth(allow: [USER], on: [READ], where: { not: { company: { id: { claim: "company.id" } } } }) { id: ID! name: String! company: Company }
    type Other @auth(allow: [PUBLIC], on: [READ], where: { not: { user: CALLER } }) { id: ID! name: String! user: User }
    input TextOps { startsWith: String eq: String }
    input TaskFilter { title: TextOps }
    input TaskMany { some: TaskFilter none: TaskFilter every: TaskFilter }
    input ProjectFilter { tasks: TaskMany }
    type TaskConnection { nodes: [Task!]! totalCount: Int! }
    type Query {
      task(id: ID!): Task tasks(where: TaskFilter): [Task!]! allTasks: TaskConnection! @resolve(as: LIST)
      projects(where: ProjectFilter): [Project!]! docs: [Doc!]! secrets: [Secret!]! others: [Other!]!
    }
    type Mutation {
      createTask(title: String!, published: Boolean!, projectId: ID!): Task
      updateTask(id: ID!, title: String, projectId: ID): Task
      deleteTask(id: ID!): Boolean!
    }
  `,
  fill: (store: Store) =>
    insert(store, {
      users: [1, 2, 3].map((id) => ({ email: `u${id}@x.org`, name: `u${id}` })),
      companies: [{ name: 'one' }, { name: 'two' }],
      projects: [
        { name: 'A', owner_id: 1 },
        { name: 'B', owner_id: 3 },
        { name: 'C', owner_id: null },
      ],
      memberships: [
        { project_id: 1, user_id: 2, role: 'EDITOR' },
        { project_id: 2, user_id: 2, role: 'VIEWER' },
      ],
      tasks: [
        { title: 'a1', published: bit(store, false), project_id: 1 },
        {
          title: 'a2',
          published: bit(store, true),
          project_id: 1,
          archived_at: '2026-01-01T00:00:00.000Z',
        },
        { title: 'b1', published: bit(store, false), project_id: 2 },
        { title: 'open', published: bit(store, true), project_id: 3 },
      ],
      docs: [
        { name: 'one', company_id: 1 },
        { name: 'two', company_id: 2 },
        { name: 'none', company_id: null },
      ],
      secrets: [
        { name: 'one', company_id: 1 },
        { name: 'two', company_id: 2 },
        { name: 'none', company_id: null },
      ],
      others: [
        { name: 'mine', user_id: 1 },
        { name: 'theirs', user_id: 2 },
      ],
    }),
};
