import { afterEach, describe, expect, it } from 'vitest';
import { GOOD } from './harness.ts';
import { databases, founder, joins, startFirm, type Firm } from './organizations-server.ts';

describe.each(databases)('organizations on %s', (database) => {
  let firm: Firm;
  afterEach(() => firm?.close());

  it('have the one who made them as their first member, by whatever way', async () => {
    firm = await startFirm(database);
    const ann = await founder(firm, 'ann');
    const made = await firm.ask(
      'mutation { createCompany(name: "two") { id members { name } } }',
      ann,
    );
    expect(made).toEqual({
      data: { createCompany: { id: expect.any(String), members: [{ name: 'ann' }] } },
    });
    const rest = await firm.call('POST', '/api/companies', { name: 'three' }, ann.headers);
    expect(rest.status).toBe(201);
    const bob = await firm.person('bob');
    const tasks = { create: [{ text: 'measure' }] };
    const filled = { name: 'bobs', projects: { create: [{ title: 'loom', tasks }] } };
    const make = (headers: Record<string, string>) =>
      firm.call('POST', '/api/auth/organizations', filled, headers);
    expect(await make(bob.headers)).toMatchObject({ status: 201, body: { name: 'bobs' } });
    const [task] = (await firm.ask('{ tasks { text project { title company { name } } } }', bob))
      .data.tasks;
    expect(task).toEqual({
      text: 'measure',
      project: { title: 'loom', company: { name: 'bobs' } },
    });
    const members = { disconnect: [{ id: bob.id }] };
    const update = [{ where: { id: 1 }, data: { company: { update: { members } } } }];
    const left = { name: 'x', projects: { connect: [{ id: 1 }], update } };
    expect(await firm.call('POST', '/api/auth/organizations', left, bob.headers)).toMatchObject({
      status: 400,
      body: { error: expect.stringMatching(/\.members is not known$/) },
    });
    const moved = { name: 'eves', projects: { connect: [{ id: 1 }] } };
    const eve = await firm.person('eve');
    expect(await firm.call('POST', '/api/auth/organizations', moved, eve.headers)).toMatchObject({
      status: 400,
      body: { error: 'projects: there is no such Project' },
    });
    const { body } = await firm.call('GET', '/api/auth/organizations', undefined, ann.headers);
    expect(body).toEqual({
      organizations: ['anns firm', 'two', 'three'].map((name) => ({
        id: expect.anything(),
        name,
        role: 'Owner',
      })),
      total: 3,
    });
  });

  it('show their members: to managers with addresses, to others of the organization without, to nobody else', async () => {
    firm = await startFirm(database);
    const ann = await founder(firm, 'ann');
    const bob = await firm.person('bob');
    const eve = await founder(firm, 'eve');
    expect(await joins(firm, ann, bob)).toMatchObject({
      status: 200,
      body: { organization_id: ann.company, role: 'Member' },
    });
    const path = `/api/auth/organizations/${ann.company}/members`;
    const asOwner = await firm.call('GET', path, undefined, ann.headers);
    expect(asOwner.body.members).toMatchObject([
      { user_id: ann.id, role: 'Owner', email: 'ann@x.test' },
      { user_id: bob.id, role: 'Member', email: 'bob@x.test' },
    ]);
    const asMember = await firm.call('GET', path, undefined, bob.headers);
    expect(asMember.body.members).toHaveLength(2);
    expect(asMember.text).not.toContain('@x.test');
    expect(await firm.call('GET', path, undefined, eve.headers)).toMatchObject({
      status: 404,
      body: { error: 'Organization not found' },
    });
    const never = await firm.call(
      'GET',
      '/api/auth/organizations/999/members',
      undefined,
      eve.headers,
    );
    expect(never).toMatchObject({ status: 404, body: { error: 'Organization not found' } });
    expect(await firm.ask('{ users { name companies { name members { name } } } }', bob)).toEqual({
      data: {
        users: ['ann', 'bob'].map((name) => ({
          name,
          companies: [{ name: 'anns firm', members: [{ name: 'ann' }, { name: 'bob' }] }],
        })),
      },
    });
    expect(await firm.ask(`{ user(id: ${ann.id}) { name } users { name } }`, eve)).toEqual({
      data: { user: null, users: [{ name: 'eve' }] },
    });
  });

  it('are managed up to the own rank, and keep their last owner', async () => {
    firm = await startFirm(database);
    const ann = await founder(firm, 'ann');
    const [bob, cid] = [await firm.person('bob'), await firm.person('cid')];
    await joins(firm, ann, bob, 'Administrator');
    await joins(firm, ann, cid);
    const member = (who: { id: unknown }) =>
      `/api/auth/organizations/${ann.company}/members/${who.id}`;
    const patch = async (by: typeof ann | typeof bob, of: typeof bob, role: string) => {
      const { status, body } = await firm.call('PATCH', member(of), { role }, by.headers);
      return [status, body.error ?? body.role];
    };
    expect(await patch(cid, bob, 'Member')).toEqual([403, 'Forbidden']);
    expect(await patch(bob, cid, 'Owner')).toEqual([403, 'Forbidden']);
    expect(await patch(bob, ann, 'Member')).toEqual([403, 'Forbidden']);
    expect(await patch(bob, cid, 'King')).toEqual([
      400,
      'role must be one of Owner, Administrator, Member',
    ]);
    expect(await patch(bob, cid, 'Administrator')).toEqual([200, 'Administrator']);
    expect(await patch(ann, ann, 'Member')).toEqual([409, 'Cannot remove the last owner']);
    const leave = (who: typeof bob) => firm.call('DELETE', member(who), undefined, who.headers);
    expect(await leave(ann)).toMatchObject({
      status: 409,
      body: { error: 'Cannot remove the last owner' },
    });
    await expect(
      firm.kernel.store.db.deleteFrom('users').where('id', '=', ann.id).execute(),
    ).rejects.toThrow('Cannot remove the last owner');
    expect(await firm.call('DELETE', '/api/auth/me', undefined, ann.headers)).toMatchObject({
      status: 409,
    });
    expect(await patch(ann, bob, 'Owner')).toEqual([200, 'Owner']);
    expect((await leave(ann)).status).toBe(204);
    expect((await leave(cid)).status).toBe(204);
    expect((await firm.call('DELETE', member(cid), undefined, bob.headers)).status).toBe(404);
  });

  it('are joined once, however many accept, by the invited address alone', async () => {
    firm = await startFirm(database);
    const ann = await founder(firm, 'ann');
    const [bob, cid] = [await firm.person('bob'), await firm.person('cid')];
    const invite = (email: string, role: string, by = ann as typeof bob) =>
      firm.call(
        'POST',
        `/api/auth/organizations/${ann.company}/invitations`,
        { email, role },
        by.headers,
      );
    const accept = (token: string, who: typeof bob) =>
      firm.call('POST', '/api/auth/invitations/accept', { token }, who.headers);
    const unverified = firm.mailed('bob@x.test');
    await firm.call('POST', '/api/auth/verify-email', {
      token: await unverified,
      password: GOOD,
    });
    await firm.verify('cid@x.test');
    expect((await invite('BOB@x.test', 'Member')).status).toBe(201);
    const first = await firm.mailed('bob@x.test');
    expect((await invite('bob@x.test', 'Administrator')).body).toMatchObject({
      email: 'bob@x.test',
      role: 'Administrator',
    });
    const token = await firm.mailed('bob@x.test');
    expect(await accept(first, bob)).toMatchObject({
      status: 400,
      body: { error: 'Invalid or expired token' },
    });
    expect((await accept(token, cid)).status).toBe(403);
    const answers = await Promise.all(Array.from({ length: 10 }, () => accept(token, bob)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(9).fill(400)]);
    expect((await invite('bob@x.test', 'Member')).status).toBe(409);

    await invite('cid@x.test', 'Member', bob);
    const fromBob = await firm.mailed('cid@x.test');
    await firm.call(
      'PATCH',
      `/api/auth/organizations/${ann.company}/members/${bob.id}`,
      { role: 'Member' },
      ann.headers,
    );
    expect((await accept(fromBob, cid)).status).toBe(400);
    expect((await invite('x@x.test', 'Member', bob)).status).toBe(403);
  });

  it('are joined by registering with an invitation, which proves the address', async () => {
    firm = await startFirm(database);
    const ann = await founder(firm, 'ann');
    await firm.call(
      'POST',
      `/api/auth/organizations/${ann.company}/invitations`,
      { email: 'dan@x.test', role: 'Member' },
      ann.headers,
    );
    const invitation = await firm.mailed('dan@x.test');
    await expect(firm.person('eve', { invitation })).rejects.toThrow('Forbidden');
    await expect(firm.person('dan', { invitation: 'wrong' })).rejects.toThrow(
      'Invalid or expired token',
    );
    const dan = await firm.person('dan', { invitation });
    expect(
      (await firm.call('GET', '/api/auth/organizations', undefined, dan.headers)).body.total,
    ).toBe(1);
    expect(
      (await firm.call('GET', '/api/auth/security', undefined, dan.headers)).body.email_verified,
    ).toBe(true);
    await expect(firm.person('dan2', { email: 'dan@x.test', invitation })).rejects.toThrow(
      'Invalid or expired token',
    );
  });

  it('are not given away by an administrator who acts as a member', async () => {
    firm = await startFirm(database);
    const ann = await founder(firm, 'ann');
    const bob = await firm.person('bob');
    await joins(firm, ann, bob);
    await firm.kernel.store.db
      .updateTable('auth_sessions')
      .set({ impersonated_by: bob.id })
      .where('user_id', '=', ann.id)
      .execute();
    const path = `/api/auth/organizations/${ann.company}`;
    const role = 'Owner';
    const answers = [
      await firm.call('POST', `${path}/invitations`, { email: 'eve@x.test', role }, ann.headers),
      await firm.call('PATCH', `${path}/members/${bob.id}`, { role }, ann.headers),
    ];
    expect(answers.map(({ status, body }) => [status, body])).toEqual(
      answers.map(() => [403, { error: 'Reauthentication required' }]),
    );
  });
});
