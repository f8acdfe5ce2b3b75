import { afterEach, describe, expect, it } from 'vitest';
import { bearer, describeEachDatabase, GOOD, startServer } from './harness.ts';
import { makePasskey } from './authenticator.ts';
import { databases, founder, SDL, startFirm, type Firm } from './organizations-server.ts';
import { codeAt, mailedToken } from './totp-app.ts';

const ROOT = { 'X-API-Key': 'k'.repeat(43) };

describe.each(databases)('an intruder in an organization on %s', (database) => {
  let firm: Firm;
  afterEach(() => firm?.close());

  it('takes no row of another organization by making one of their own', async () => {
    firm = await startFirm(database);
    const ann = await founder(firm, 'ann');
    const bob = await founder(firm, 'bob');
    await firm.ask(
      'mutation { createProject(input: { title: "ours", tasks: { create: [{ text: "ours" }] } }) { id } }',
      ann,
    );
    const make = async (body: object) => {
      const path = '/api/auth/organizations';
      const answer = await firm.call('POST', path, { name: 'trap', ...body }, bob.headers);
      return [answer.status, answer.body.error];
    };
    const tasks = (id: string) => ({ create: [{ title: 'new', tasks: { connect: [{ id }] } }] });
    for (const id of ['1', '99'])
      expect(await make({ projects: { connect: [{ id }] } })).toEqual([
        400,
        'projects: there is no such Project',
      ]);
    expect(await make({ projects: tasks('1') })).toEqual(await make({ projects: tasks('99') }));
    expect(await make({ id: '2147483647' })).toEqual([
      400,
      'id must be absent: the server makes it',
    ]);
    expect((await make({}))[0]).toBe(201);
    const seen = await firm.ask('{ projects { title company { name } tasks { text } } }', ann);
    expect(seen.data.projects).toEqual([
      { title: 'ours', company: { name: 'anns firm' }, tasks: [{ text: 'ours' }] },
    ]);
  });

  it('upserts and connects a row of another organization as a row that never was', async () => {
    const sdl = `${SDL.replace('NewTasks { create', 'NewTasks { connectOrCreate: [TaskOrNew!] create')}
      input ProjectKey { id: ID! }
      input TaskOrNew { where: Link! create: NewTask! }
      extend type Mutation {
        upsertProject(where: ProjectKey!, create: NewProject!, update: NewProject!): Project!
      }`;
    firm = await startFirm(database, { sdl });
    const ann = await founder(firm, 'ann');
    const bob = await founder(firm, 'bob');
    const tasks = (id: number) =>
      `tasks: { connectOrCreate: [{ where: { id: ${id} }, create: { text: "new" } }] }`;
    for (const by of [ann, bob])
      await firm.ask(
        'mutation { createProject(input: { title: "first", tasks: { create: [{ text: "first" }] } }) { id } }',
        by,
      );
    for (const id of [1, 99]) {
      const text = `mutation { upsertProject(where: { id: ${id} }, create: { title: "new", ${tasks(id)} }, update: { title: "taken" }) { title company { name } tasks { text } } }`;
      expect(await firm.ask(text, bob)).toEqual({
        data: {
          upsertProject: { title: 'new', company: { name: 'bobs firm' }, tasks: [{ text: 'new' }] },
        },
      });
    }
    const { data } = await firm.ask('{ projects { title tasks { text } } }', ann);
    expect(data.projects).toEqual([{ title: 'first', tasks: [{ text: 'first' }] }]);
  });

  it('with a key that is bound to a removed one is refused, also where rows are only marked', async () => {
    const sdl = SDL.replace('type Company {', 'type Company @entity(softDelete: true) {');
    firm = await startFirm(database, { sdl });
    const ann = await founder(firm, 'ann');
    const asked = { name: 'k', scopes: ['projects:read'], organization_id: ann.company };
    const { body } = await firm.call('POST', '/api/auth/admin/api-keys', asked, ROOT);
    const use = async () =>
      (await firm.call('GET', '/api/projects', undefined, { 'X-API-Key': body.key })).status;
    expect(await use()).toBe(200);
    await firm.ask(`mutation { deleteCompany(id: ${ann.company}) }`, ann);
    expect(await use()).toBe(401);
  });

  it('invites an address many times at once, and one invitation is left', async () => {
    firm = await startFirm(database);
    const ann = await founder(firm, 'ann');
    const path = `/api/auth/organizations/${ann.company}/invitations`;
    const asked = { email: 'bob@x.test', role: 'Member' };
    const made = await Promise.all(
      Array.from({ length: 10 }, () => firm.call('POST', path, asked, ann.headers)),
    );
    expect(new Set(made.map(({ status }) => status))).toEqual(new Set([201]));
    expect((await firm.call('GET', path, undefined, ann.headers)).body.total).toBe(1);
  });

  it('with a rotated key that is bound to one stays in that one', async () => {
    firm = await startFirm(database);
    const ann = await founder(firm, 'ann');
    await founder(firm, 'bob');
    const keys = '/api/auth/admin/api-keys';
    const asked = { name: 'k', scopes: ['users:read'], organization_id: ann.company };
    const made = await firm.call('POST', keys, asked, ROOT);
    const next = await firm.call('POST', `${keys}/${made.body.id}/rotate`, {}, ROOT);
    const { text } = await firm.call('GET', '/api/users', undefined, {
      'X-API-Key': next.body.key,
    });
    expect(JSON.parse(text).data).toEqual([{ id: String(ann.id), name: 'ann' }]);
  });
});

describe.each(databases)('a key that manages keys on %s', (database) => {
  it('makes none that acts in an organization of others, and changes none', async () => {
    const firm = await startFirm(database);
    const [ann, bob] = [await founder(firm, 'ann'), await founder(firm, 'bob')];
    const keys = '/api/auth/admin/api-keys';
    const scopes = ['auth:manage', 'projects:read'];
    const make = (body: object, headers: Record<string, string>) =>
      firm.call('POST', keys, { name: 'k', scopes: ['projects:read'], ...body }, headers);
    const keyOf = async (body: object) => ({
      'X-API-Key': (await make({ scopes, ...body }, ROOT)).body.key as string,
    });
    const [free, inAnns] = [await keyOf({}), await keyOf({ organization_id: ann.company })];
    const foreign = (await make({ organization_id: bob.company }, ROOT)).body;
    for (const key of [free, inAnns]) {
      expect(await make({ organization_id: bob.company }, key)).toMatchObject({
        status: 404,
        body: { error: 'Organization not found' },
      });
      expect((await make({ user_id: bob.id }, key)).status).toBe(403);
      expect((await firm.call('POST', `${keys}/${foreign.id}/rotate`, {}, key)).status).toBe(403);
      const more = { scopes: ['projects:write'] };
      expect((await firm.call('PATCH', `${keys}/${foreign.id}`, more, key)).status).toBe(403);
    }
    for (const key of [inAnns, ROOT])
      expect((await make({ organization_id: ann.company }, key)).status).toBe(201);
    await firm.close();
  });
});

describeEachDatabase('an intruder who knows the old password', (database) => {
  it('adds no factor with a ticket from before the first one of the owner', async () => {
    const server = await startServer({ database, auth: { secondFactor: { mode: 'required' } } });
    const post = (path: string, body: object) => server.call('POST', `/api/auth/${path}`, body);
    const email = 'owner@x.test';
    const { ticket } = (await server.register(email)).body;
    const step = await post('login', { email, password: GOOD });
    expect([step.status, step.body.next]).toEqual([202, 'enroll_second_factor']);
    const late = { ticket: step.body.ticket };
    const { secret } = (await post('totp', { ticket })).body;
    const code = codeAt(secret, server.kernel.now());
    expect((await post('totp/confirm', { ticket, code })).status).toBe(200);
    for (const path of ['totp', 'recovery-codes', 'passkeys/options'])
      expect((await post(path, late)).body).toEqual({ error: 'Invalid or expired token' });
    await server.close();
  });

  it('has no use of recovery codes from before the first passkey of the owner', async () => {
    const server = await startServer({ database, auth: { secondFactor: { mode: 'required' } } });
    const post = (path: string, body: object) => server.call('POST', `/api/auth/${path}`, body);
    const email = 'owner@x.test';
    const { ticket } = (await server.register(email)).body;
    const { body } = await post('recovery-codes', { ticket });
    const options = (await post('passkeys/options', { ticket })).body;
    const passkey = makePasskey(options).created;
    expect((await post('passkeys', { ticket, credential: passkey })).status).toBe(201);
    const step = (await post('login', { email, password: GOOD })).body;
    expect(step).toMatchObject({ next: 'second_factor', methods: ['passkey'] });
    const [recovery_code] = body.recovery_codes;
    const used = await post('second-factor', { ticket: step.ticket, recovery_code });
    expect([used.status, used.body]).toEqual([401, { error: 'Invalid code' }]);
    await server.close();
  });

  it('does not set a password during the reset of the owner', { timeout: 30_000 }, async () => {
    const server = await startServer({ database });
    for (let round = 0; round < 5; round += 1) {
      const { body } = await server.register();
      const { email } = body;
      server.logs.splice(0);
      await server.call('POST', '/api/auth/forgot-password', { email });
      const token = await mailedToken(server, 'reset-password');
      const [theirs, reset] = await Promise.all([
        server.call(
          'POST',
          '/api/auth/change-password',
          { current_password: GOOD, new_password: 'the password of an intruder' },
          bearer(body.accessToken),
        ),
        server.call('POST', '/api/auth/reset-password', {
          token,
          new_password: 'the password of the owner',
        }),
      ]);
      expect([theirs.status, reset.status]).toContain(200);
      const login = async (password: string) =>
        (await server.call('POST', '/api/auth/login', { email, password })).status;
      const wins = reset.status === 200 ? 'owner' : 'intruder';
      expect([
        await login('the password of the owner'),
        await login('the password of an intruder'),
      ]).toEqual(wins === 'owner' ? [200, 401] : [401, 200]);
    }
    await server.close();
  });
});
