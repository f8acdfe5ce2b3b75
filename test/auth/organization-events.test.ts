import { sql } from 'kysely';
import { afterEach, describe, expect, it } from 'vitest';
import { databases, founder, joins, startFirm, type Firm } from './organizations-server.ts';

describe.each(databases)('the events of organizations on %s', (database) => {
  let firm: Firm;
  afterEach(() => firm?.close());

  /** Type, user, organization and role of the events so far. */
  const events = async () =>
    (
      await firm.kernel.store.db
        .selectFrom('auth_security_events')
        .select(['type', 'user_id', 'data'])
        .where((where) =>
          where.or(
            ['organization.%', 'member.%', 'invitation.%'].map((like) =>
              where('type', 'like', like),
            ),
          ),
        )
        .execute()
    )
      .map(({ type, user_id, data }) => {
        const { data: about } = typeof data === 'string' ? JSON.parse(data) : data;
        return [type, user_id, about.organization_id, about.role ?? null];
      })
      .sort(byText);

  it('tell of an organization, of who joins, changes and leaves, and of each invitation', async () => {
    firm = await startFirm(database);
    const ann = await founder(firm, 'ann');
    const bob = await firm.person('bob');
    const organization_id = ann.company;
    const path = `/api/auth/organizations/${organization_id}`;
    await joins(firm, ann, bob);
    await firm.call('PATCH', `${path}/members/${bob.id}`, { role: 'Administrator' }, ann.headers);
    await firm.call('DELETE', `${path}/members/${bob.id}`, undefined, bob.headers);
    const { body } = await firm.call(
      'POST',
      `${path}/invitations`,
      { email: 'cid@x.test', role: 'Member' },
      ann.headers,
    );
    await firm.call('DELETE', `${path}/invitations/${body.id}`, undefined, ann.headers);
    await firm.ask(`mutation { deleteCompany(id: ${organization_id}) }`, ann);
    const { rows } = await sql<{
      ip: string;
      data: any;
    }>`select ip, data from auth_security_events where type like 'organization.%' or type like 'member.%'`.execute(
      firm.kernel.store.db,
    );
    expect(new Set(rows.map(({ ip }) => ip))).toEqual(new Set(['127.0.0.1']));
    for (const { data } of rows)
      expect(typeof data === 'string' ? JSON.parse(data) : data).toMatchObject({
        actor: { kind: 'user' },
        request_id: expect.stringMatching(/./),
      });
    expect(await events()).toEqual(
      [
        ['organization.created', ann.id, organization_id, null],
        ['member.added', ann.id, organization_id, 'Owner'],
        ['invitation.created', bob.id, organization_id, 'Member'],
        ['invitation.accepted', bob.id, organization_id, 'Member'],
        ['member.added', bob.id, organization_id, 'Member'],
        ['member.role_changed', bob.id, organization_id, 'Administrator'],
        ['member.removed', bob.id, organization_id, 'Administrator'],
        ['invitation.created', null, organization_id, 'Member'],
        ['invitation.revoked', null, organization_id, 'Member'],
        ['organization.deleted', null, organization_id, null],
      ].sort(byText),
    );
  });
});

const byText = (a: readonly unknown[], b: readonly unknown[]) =>
  JSON.stringify(a) < JSON.stringify(b) ? -1 : 1;
