import { afterEach, describe, expect, it } from 'vitest';
import { databases, startServer, user, type TestServer } from '../graphql/harness.ts';
import { insert } from './project.ts';

const SDL = `
  enum Role { EDITOR VIEWER }
  type User { id: ID! email: String! memberships: [Member!]! }
  type Project
    @auth(allow: [PUBLIC], on: [READ])
    @auth(allow: [USER], on: [CREATE, UPDATE, DELETE], where: { members: { some: { user: CALLER, role: EDITOR } } })
    @auth(allow: [USER], on: [CREATE], where: { name: "free" })
  { id: ID! name: String! @unique members: [Member!]! tasks: [Task!]! }
  type Member @auth(allow: [USER]) { id: ID! project: Project user: User! role: Role! }
  type Task
    @auth(allow: [USER], where: { project: { members: { some: { user: CALLER, role: EDITOR } } } }, on: [CREATE, UPDATE, DELETE])
    @auth(allow: [USER], where: { project: { members: { some: { user: CALLER } } } }, on: [READ])
  { id: ID! title: String! code: String @unique project: Project steps: [Step!]! }
  type Step @auth(allow: [OWNER], owner: "author", where: { task: { title: { ne: "closed" } } }) { id: ID! text: String! author: User task: Task }
  type Vote @auth(allow: [USER]) @index(fields: ["task", "voter"], unique: true) { id: ID! task: Task voter: User up: Boolean ballot: Ballot }
  type Letter @auth(allow: [USER], on: [CREATE]) @auth(allow: [OWNER], owner: "to", on: [READ]) { id: ID! text: String! to: User }
  type Ballot @auth(allow: [USER]) { id: ID! votes: [Vote!]! }
  input VoteKey { taskId: ID! voterId: ID! } input VoteInput { up: Boolean }
  input BallotVotes { connectOrCreate: [VoteOrNew!] } input VoteOrNew { where: VoteKey! create: VoteInput! }
  input MemberInput { userId: ID! role: Role! }
  input ProjectInput { name: String! members: MembersIn tasks: TasksIn }
  input MembersIn { create: [MemberInput!] disconnect: [Ref!] }
  input Ref { id: ID! }
  input TasksIn { connect: [Ref!] create: [TaskInput!] }
  input TaskInput { title: String! code: String projectId: ID }
  input TaskFilter { title: TextOps } input TextOps { eq: String startsWith: String }
  input TaskKey { code: String! }
  input ProjectPatch { name: String members: MembersIn tasks: TasksIn }
  type Query { tasks: [Task!]! projects: [Project!]! }
  type Mutation {
    createProject(input: ProjectInput!): Project updateProject(id: ID!, input: ProjectPatch!): Project deleteProject(id: ID!): Boolean!
    createTask(title: String!, code: String, projectId: ID): Task
    updateTask(id: ID!, title: String, projectId: ID): Task deleteTask(id: ID!): Boolean!
    createTasks(input: [TaskInput!]!, skipDuplicates: Boolean): [Task!]!
    updateTasks(where: TaskFilter!, input: TaskInput!): Int! deleteTasks(where: TaskFilter!): Int!
    upsertTask(where: TaskKey!, create: TaskInput!, update: TaskInput!): Task
    createStep(text: String!, taskId: ID!): Step
    upsertVote(where: VoteKey!, create: VoteInput!, update: VoteInput!): Vote createBallot(votes: BallotVotes): Ballot
    createLetter(text: String!, toId: ID): Letter sendLetter(text: String!, toId: ID): Boolean! @resolve(as: CREATE, of: "Letter")
  }
`;

describe.each(databases)('graphql-2 §3: rules about what is written on %s', (database) => {
  let server: TestServer;
  afterEach(() => server?.close());

  /** User 1 edits project 1, views 2 and has nothing to do with 3. */
  async function start() {
    server = await startServer(SDL, {
      database,
      manifest: 'name: writes\nauth: {}\n',
    });
    await insert(server.store, {
      users: [{ email: 'a@x.org' }, { email: 'b@x.org' }],
      projects: [{ name: 'one' }, { name: 'two' }, { name: 'three' }],
      members: [
        { project_id: 1, user_id: 1, role: 'EDITOR' },
        { project_id: 2, user_id: 1, role: 'VIEWER' },
        { project_id: 3, user_id: 2, role: 'EDITOR' },
      ],
      tasks: [
        { title: 't1', code: 'c1', project_id: 1 },
        { title: 't2', code: 'c2', project_id: 2 },
        { title: 't3', code: 'c3', project_id: 3 },
      ],
    });
  }
  const rows = async (table: string) => server.store.db.selectFrom(table).selectAll().execute();
  const run = async (mutation: string, id = 1) => {
    const { data, errors } = await server.query(`mutation { ${mutation} }`, {}, user(id));
    return errors ? errors.map(({ message, extensions }) => [extensions.code, message]) : data;
  };
  const FORBIDDEN = [['FORBIDDEN', 'Forbidden']];
  const noSuch = (message: string) => [['BAD_USER_INPUT', message]];

  it('CREATE: the row as it is after the whole mutation, nested writes included', async () => {
    await start();
    const tables = await everything();
    expect(await run('createTask(title: "x", projectId: 2) { id }')).toEqual(FORBIDDEN);
    expect(await run('createTask(title: "x") { id }')).toEqual(FORBIDDEN);
    expect(await run('createProject(input: { name: "mine" }) { id }')).toEqual(FORBIDDEN);
    const as = (role: string) =>
      `createProject(input: { name: "mine", members: { create: [{ userId: 1, role: ${role} }] }, tasks: { create: [{ title: "first" }] } }) { name }`;
    expect(await run(as('VIEWER'))).toEqual(FORBIDDEN);
    expect(await everything()).toEqual(tables);
    expect(await run(as('EDITOR'))).toEqual({ createProject: { name: 'mine' } });
    expect(await run('createTask(title: "x", projectId: 1) { title }')).toEqual({
      createTask: { title: 'x' },
    });
    expect(await run('createProject(input: { name: "free" }) { name }')).toEqual({
      createProject: { name: 'free' },
    });
  });

  const everything = async () => [
    await rows('projects'),
    await rows('members'),
    await rows('tasks'),
  ];

  it('UPDATE: before and after, so that no row moves out or in, and all is undone', async () => {
    await start();
    const tables = await everything();
    expect(await run('updateTask(id: 2, title: "x") { id }')).toEqual(FORBIDDEN);
    expect(await run('updateTask(id: 2, projectId: 1) { id }')).toEqual(FORBIDDEN);
    expect(await run('updateTask(id: 1, projectId: 2) { id }')).toEqual(FORBIDDEN);
    expect(await run('updateTask(id: 1, projectId: null) { id }')).toEqual(FORBIDDEN);
    expect(await run('updateTask(id: 3, title: "x") { id }')).toEqual({ updateTask: null });
    expect(
      await run(
        'updateProject(id: 1, input: { name: "x", members: { disconnect: [{ id: 1 }] } }) { id }',
      ),
    ).toEqual(FORBIDDEN);
    expect(await everything()).toEqual(tables);
    expect(await run('updateTask(id: 1, title: "x") { title }')).toEqual({
      updateTask: { title: 'x' },
    });
  });

  it('DELETE: the row as it is; one that is not seen is not there', async () => {
    await start();
    expect(await run('deleteTask(id: 2)')).toEqual(FORBIDDEN);
    expect(await run('deleteTask(id: 3)')).toEqual({ deleteTask: false });
    expect(await run('deleteTask(id: 1)')).toEqual({ deleteTask: true });
  });

  it('many at once, upsert and skipped duplicates', async () => {
    await start();
    const tables = await everything();
    expect(
      await run(
        'createTasks(input: [{ title: "a", projectId: 1 }, { title: "b", projectId: 2 }]) { id }',
      ),
    ).toEqual(FORBIDDEN);
    expect(
      await run(
        'createTasks(skipDuplicates: true, input: [{ title: "a", code: "c1", projectId: 2 }]) { id }',
      ),
    ).toEqual({ createTasks: [] });
    expect(
      await run(
        'updateTasks(where: { title: { startsWith: "t" } }, input: { title: "t", projectId: 2 })',
      ),
    ).toEqual(FORBIDDEN);
    expect(
      await run(
        'upsertTask(where: { code: "new" }, create: { title: "n", projectId: 2 }, update: { title: "n" }) { id }',
      ),
    ).toEqual(FORBIDDEN);
    expect(
      await run(
        'upsertTask(where: { code: "c2" }, create: { title: "n", projectId: 1 }, update: { title: "n" }) { id }',
      ),
    ).toEqual(FORBIDDEN);
    expect(await everything()).toEqual(tables);
    expect(
      await run('updateTasks(where: { title: { startsWith: "t" } }, input: { title: "t" })'),
    ).toEqual({ updateTasks: 1 });
    expect(await run('deleteTasks(where: { title: { startsWith: "t" } })')).toEqual({
      deleteTasks: 1,
    });
    expect(
      await run(
        'upsertTask(where: { code: "new" }, create: { title: "n", projectId: 1 }, update: { title: "m" }) { title }',
      ),
    ).toEqual({ upsertTask: { title: 'n' } });
    expect(
      await run(
        'upsertTask(where: { code: "new" }, create: { title: "n", projectId: 1 }, update: { title: "m" }) { title }',
      ),
    ).toEqual({ upsertTask: { title: 'm' } });
  });

  it('connect: a row that one may not read is no such row, one that one may not change is refused', async () => {
    await start();
    const tables = await everything();
    const connect = (id: number) =>
      run(`updateProject(id: 1, input: { tasks: { connect: [{ id: ${id} }] } }) { id }`);
    expect(await connect(3)).toEqual(noSuch('tasks: there is no such Task'));
    expect(await connect(99)).toEqual(noSuch('tasks: there is no such Task'));
    expect(await connect(2)).toEqual(FORBIDDEN);
    expect(await everything()).toEqual(tables);
    expect(await run('createStep(text: "s", taskId: 3) { id }')).toEqual(
      noSuch('taskId: there is no such Task'),
    );
  });

  it('a row that may be created, but not read, is written, and the answer says so', async () => {
    await start();
    expect(await run('createLetter(text: "a", toId: 2) { id }')).toEqual([
      ['FORBIDDEN', 'The row is written, but the caller may not read it'],
    ]);
    expect(await run('sendLetter(text: "b", toId: 2)')).toEqual({ sendLetter: true });
    expect(await rows('letters')).toHaveLength(2);
  });

  it('a new row does not take a row that one may not read from the key that was looked for', async () => {
    await start();
    const key = (task: number | string) => `where: { taskId: "${task}", voterId: 1 }`;
    const upsert = (task: number | string) =>
      run(`upsertVote(${key(task)}, create: {}, update: {}) { task { title } }`);
    const ballot = (task: number) =>
      run(`createBallot(votes: { connectOrCreate: [{ ${key(task)}, create: {} }] }) { id }`);
    for (const task of [3, 99, 'x'])
      expect(await upsert(task)).toEqual(noSuch('taskId: there is no such Task'));
    expect(await ballot(3)).toEqual(noSuch('taskId: there is no such Task'));
    expect(await rows('votes')).toEqual([]);
    expect(await upsert(2)).toEqual({ upsertVote: { task: { title: 't2' } } });
  });

  it('a create that leaves out a one-step owner takes the caller, also beside a where', async () => {
    await start();
    expect(await run('createStep(text: "s", taskId: 1) { text author { id } }')).toEqual({
      createStep: { text: 's', author: { id: '1' } },
    });
    await run('updateTask(id: 1, title: "closed") { id }');
    expect(await run('createStep(text: "s", taskId: 1) { id }')).toEqual(FORBIDDEN);
    expect(await rows('steps')).toHaveLength(1);
  });
});
