import { afterEach, describe, expect, it } from 'vitest';
import {
  databases,
  founder,
  joins,
  MANIFEST,
  startFirm,
  type Firm,
  type Person,
} from './organizations-server.ts';
import { GOOD } from './server.ts';

const ROOT = { 'X-API-Key': 'k'.repeat(43) };

type Founder = Awaited<ReturnType<typeof founder>>;

describe.each(databases)('auth-2 §10 access to organizations on %s', (database) => {
  let firm: Firm;
  afterEach(() => firm?.close());

  const ofMember = (of: Founder, { id }: Person) =>
    `/api/auth/organizations/${of.company}/members/${id}`;
  const invitationsOf = ({ company }: Founder) => `/api/auth/organizations/${company}/invitations`;
  const invite = (by: Founder, email: string) =>
    firm.call('POST', invitationsOf(by), { email, role: 'Member' }, by.headers);

  it('a key of a user can be bound to one of their organizations, and ends there with it', async () => {
    firm = await startFirm(database);
    const [ann, bob, eve] = [
      await founder(firm, 'ann'),
      await founder(firm, 'bob'),
      await founder(firm, 'eve'),
    ];
    await joins(firm, bob, ann);
    for (const each of [ann, bob])
      await firm.ask(
        `mutation { createProject(input: { title: "of ${each.company}", companyId: ${each.company} }) { id } }`,
        each,
      );
    const make = (more: object) => {
      const body = { name: 'k', scopes: ['projects:read'], ...more };
      return firm.call('POST', '/api/auth/api-keys', body, ann.headers);
    };
    const titles = async (key: string) =>
      (await firm.call('GET', '/api/projects', undefined, { 'X-API-Key': key })).text.match(
        /of \d+/g,
      ) ?? [];
    const free = (await make({})).body.key;
    const bound = (await make({ organization_id: bob.company })).body.key;
    expect(await titles(free)).toEqual([`of ${ann.company}`, `of ${bob.company}`]);
    expect(await titles(bound)).toEqual([`of ${bob.company}`]);
    for (const organization_id of [eve.company, 999, 'x'])
      expect(await make({ organization_id })).toMatchObject({
        status: 404,
        body: { error: 'Organization not found' },
      });
    expect((await firm.call('DELETE', ofMember(bob, ann), undefined, ann.headers)).status).toBe(
      204,
    );
    expect([await titles(free), await titles(bound)]).toEqual([[`of ${ann.company}`], []]);
  });

  it('the last of the first role is neither disabled nor deleted, and disabled ones do not count', async () => {
    firm = await startFirm(database);
    const ann = await founder(firm, 'ann');
    const bob = await firm.person('bob');
    await joins(firm, ann, bob, 'Owner');
    const admin = (method: string, path: string) =>
      firm.call(method, `/api/auth/admin/users/${path}`, method === 'POST' ? {} : undefined, ROOT);
    const refusal = { status: 409, body: { error: 'Cannot remove the last owner' } };
    expect((await admin('POST', `${bob.id}/disable`)).status).toBe(200);
    expect(await admin('POST', `${ann.id}/disable`)).toMatchObject(refusal);
    expect(await admin('DELETE', `${ann.id}`)).toMatchObject(refusal);
    expect(await firm.call('DELETE', '/api/auth/me', undefined, ann.headers)).toMatchObject(
      refusal,
    );
    expect(await firm.call('DELETE', ofMember(ann, ann), undefined, ann.headers)).toMatchObject(
      refusal,
    );
    const demoted = await firm.call('PATCH', ofMember(ann, ann), { role: 'Member' }, ann.headers);
    expect(demoted).toMatchObject(refusal);
    expect((await firm.ask('{ companies { name } }', ann)).data.companies).toHaveLength(1);
    expect((await admin('POST', `${bob.id}/enable`)).status).toBe(200);
    expect((await admin('POST', `${ann.id}/disable`)).status).toBe(200);
    expect((await admin('DELETE', `${ann.id}`)).status).toBe(204);
    expect(await admin('DELETE', `${bob.id}`)).toMatchObject(refusal);
  });

  it('an invitation that is declined or revoked is used up, and nobody joins', async () => {
    firm = await startFirm(database);
    const [ann, eve] = [await founder(firm, 'ann'), await founder(firm, 'eve')];
    const bob = await firm.person('bob');
    await firm.verify(bob.email);
    const answer = (how: string, token: string, who: Person = bob) =>
      firm.call('POST', `/api/auth/invitations/${how}`, { token }, who.headers);
    const pending = async () =>
      (await firm.call('GET', invitationsOf(ann), undefined, ann.headers)).body;
    const spent = { status: 400, body: { error: 'Invalid or expired token' } };

    await invite(ann, bob.email);
    const declined = await firm.mailed(bob.email);
    expect((await answer('decline', declined, eve)).status).toBe(403);
    expect(await answer('decline', declined)).toMatchObject({
      status: 200,
      body: { organization_id: ann.company, role: 'Member' },
    });
    expect([await answer('accept', declined), await answer('decline', declined)]).toMatchObject([
      spent,
      spent,
    ]);

    const { id } = (await invite(ann, bob.email)).body;
    const revoked = await firm.mailed(bob.email);
    expect(await pending()).toMatchObject({
      invitations: [{ id, email: bob.email, role: 'Member' }],
      total: 1,
    });
    const revoke = (of: Founder, by: Person) =>
      firm.call('DELETE', `${invitationsOf(of)}/${id}`, undefined, by.headers);
    expect([(await revoke(eve, eve)).status, (await revoke(ann, eve)).status]).toEqual([404, 404]);
    expect((await revoke(ann, ann)).status).toBe(204);
    expect((await revoke(ann, ann)).status).toBe(404);
    expect(await pending()).toEqual({ invitations: [], total: 0 });
    expect(await answer('accept', revoked)).toMatchObject(spent);
    const own = await firm.call('GET', '/api/auth/organizations', undefined, bob.headers);
    expect(own.body.total).toBe(0);
  });

  it("`extend` gets the organizations, and a function the request's one", async () => {
    const given: unknown[] = [];
    const noted: unknown[] = [];
    firm = await startFirm(database, {
      extend: (_userId, { organizations }) => {
        given.push(organizations);
        return {};
      },
      resolvers: {
        Query: {
          companies: (_parent: unknown, _args: unknown, context: any) => {
            noted.push(context.values.get('organization')[0]);
            return [];
          },
        },
      },
    });
    const ann = await founder(firm, 'ann');
    const bob = await founder(firm, 'bob');
    await joins(firm, bob, ann);
    expect(given[0]).toEqual([]);
    const login = { email: ann.email, password: GOOD };
    expect((await firm.call('POST', '/api/auth/login', login)).status).toBe(200);
    expect(given.at(-1)).toEqual([
      { id: ann.company, role: 'Owner' },
      { id: bob.company, role: 'Member' },
    ]);
    await firm.ask('{ companies { id } }', ann);
    await firm.ask('{ companies { id } }', ann, { 'X-Organization': String(bob.company) });
    await firm.ask('{ companies { id } }', bob);
    expect(noted).toEqual([
      undefined,
      { id: bob.company, role: 'Member' },
      { id: bob.company, role: 'Owner' },
    ]);
  });
});

describe.each(databases)('mails of strangers on %s', (database) => {
  it('need a sender with a proved address, are counted, and show names without links', async () => {
    const limits =
      '{ invite-user: 3/1d, invite-organization: 5/1d, change-email-user: 2/1d, change-name-user: 2/1d }';
    const firm = await startFirm(database, {
      manifest: MANIFEST.replace('auth: {', `auth: { rate_limits: ${limits},`),
      env: { RATE_LIMIT_ENABLED: 'true' },
    });
    const mails = () =>
      firm.lines
        .map((line) => JSON.parse(line).mail)
        .filter((mail) => /token=/.test(mail?.text) && /change-email|invitation/.test(mail.text));
    const name = 'Your account is locked: https://evil.test';
    const ann = await founder(firm, 'ann', name);
    const post = async (path: string, email: string, by: Person) => {
      const body = { email, role: 'Member' };
      const answer = await firm.call('POST', `/api/auth/${path}`, body, by.headers);
      return [answer.status, answer.body.error];
    };
    const path = `organizations/${ann.company}/invitations`;
    const eve = await firm.person('eve');
    const { body } = await firm.call('POST', '/api/auth/organizations', { name }, eve.headers);
    const unproved = [403, 'Email not verified'];
    expect(await post(`organizations/${body.id}/invitations`, 's@x.test', eve)).toEqual(unproved);
    expect(await post('change-email', 's@x.test', eve)).toEqual(unproved);
    const bob = await firm.person('bob.evil.test');
    expect((await joins(firm, ann, bob, 'Administrator')).status).toBe(200);
    await firm.kernel.store.db
      .updateTable('companies')
      .set({ name: 'Engines & Looms' })
      .where('id', '=', ann.company)
      .execute();
    const answers = [];
    for (const by of [ann, ann, ann, bob, bob, bob])
      answers.push((await post(path, `${answers.length}@x.test`, by))[0]);
    expect(answers).toEqual([201, 201, 429, 201, 201, 429]);
    for (const status of [200, 200, 429])
      expect((await post('change-email', `${status}-${mails().length}@x.test`, bob))[0]).toBe(
        status,
      );
    await expect.poll(() => mails().length).toBe(7);
    // A phone number that somebody has is told, and so nobody may ask for many.
    await firm.kernel.store.db
      .updateTable('auth_users')
      .set({ phone: '+1 5550100' })
      .where('user_id', '=', ann.id)
      .execute();
    for (const [phone, status] of [
      ['+1 555 0100', 409],
      ['+1 5550101', 200],
      ['+1 5550102', 429],
    ])
      expect((await firm.call('PATCH', '/api/auth/me', { phone }, bob.headers)).status).toBe(
        status,
      );
    expect((await firm.call('GET', `/api/auth/${path}`, undefined, ann.headers)).body.total).toBe(
      4,
    );
    const texts = mails().map(
      ({ subject, text }) => `${subject}\n${text.replaceAll(/http:\S+/g, '')}`,
    );
    expect(texts.join('\n')).not.toMatch(/evil|locked/);
    expect(texts[0]).toMatch(/^An invitation from firm\n.* join a company as Administrator/i);
    expect(texts[1]).toMatch(/ join Engines Looms as Member/);
    await firm.close();
  });
});
