import { expect, it } from 'vitest';
import { databases, founder, startFirm } from './organizations-server.ts';

it.each(databases)(
  'auth-2 §9 the list of users narrows to an organization on %s',
  async (database) => {
    const firm = await startFirm(database);
    const [ann, eve] = [await founder(firm, 'ann'), await founder(firm, 'eve')];
    const list = async (query: string) =>
      firm.call('GET', `/api/auth/admin/users?${query}`, undefined, {
        'X-API-Key': 'k'.repeat(43),
      });
    const emails = async (query: string) =>
      (await list(query)).body.users.map(({ email }: { email: string }) => email);
    expect(await emails('')).toEqual(['ann@x.test', 'eve@x.test']);
    expect(await emails(`organization=${ann.company}`)).toEqual(['ann@x.test']);
    expect(await emails(`organization=${eve.company}&q=ev`)).toEqual(['eve@x.test']);
    expect(await emails(`organization=${eve.company}&q=an`)).toEqual([]);
    expect(await emails('organization=999')).toEqual([]);
    expect((await list('organization=x')).status).toBe(400);
    await firm.close();
  },
);
