import { afterEach, describe, expect, it } from 'vitest';
import { createDatabase, postgresUrl } from '../engines/available.ts';
import { startServer, type TestServer } from './server.ts';

let server: TestServer;
let drop: (() => Promise<void>) | undefined;
afterEach(async () => {
  await server.end();
  await drop?.();
  drop = undefined;
});

describe.each(['SQLite', 'PostgreSQL'])('on %s', (kind) => {
  it.skipIf(kind === 'PostgreSQL' && !postgresUrl)(
    "the host of APP_URL is no app's, as a domain, an alias, a wildcard or a default",
    async () => {
      const database = kind === 'PostgreSQL' ? await createDatabase() : undefined;
      drop = database?.drop;
      server = await startServer({
        socket: '/nowhere/engine.sock',
        env: { APP_URL: 'https://Panel.Apps.test:8443/x' },
        ...(database && { database: database.url }),
      });
      expect((await server.api('POST', '/api/apps', { name: 'quay' })).status).toBe(201);
      for (const fields of [
        { domain: 'panel.apps.test' },
        { domain: 'PANEL.apps.test.' },
        { domain: '*.apps.test' },
        { aliases: ['ok.test', 'panel.apps.test'] },
        { aliases: ['*.apps.test'] },
      ]) {
        const { status, body } = await server.api('PATCH', '/api/apps/quay', fields);
        expect([status, body.error]).toEqual([409, expect.stringMatching(/APP_URL/)]);
        expect((await server.api('POST', '/api/apps', { name: 'other', ...fields })).status).toBe(
          409,
        );
      }
      expect((await server.api('POST', '/api/apps', { name: 'panel' })).status).toBe(409);
      const fine = { domain: 'quay.test', aliases: ['*.panel.apps.test', '*.quay.test'] };
      expect((await server.api('PATCH', '/api/apps/quay', fine)).status).toBe(200);
      expect((await server.api('GET', '/api/apps')).body.total).toBe(1);
    },
  );

  it("an app's max_connections is shown, changed, and refused when it is wrong", async () => {
    server = await startServer({ socket: '/nowhere/engine.sock' });
    const created = await server.api('POST', '/api/apps', { name: 'quay' });
    expect(created.body.http).toEqual({
      ...{ max_connections: 10_000, compress: true, timeout_s: 300, rate_limit: null },
      ...{ max_body: null, basic_auth: null, maintenance: null, allow: null },
    });
    const change = (http: unknown) => server.api('PATCH', '/api/apps/quay', { http });
    expect((await change({ max_connections: 5 })).body.http.max_connections).toBe(5);
    for (const wrong of [{ max_connections: 0 }, { max_connections: 1.5 }, { other: 1 }, 5])
      expect((await change(wrong)).status).toBe(400);
  });

  it('rules for requests are kept by a change of others, and passwords are never read back', async () => {
    server = await startServer({ socket: '/nowhere/engine.sock' });
    const ann = { user: 'ann', password: 'open sesame' };
    const created = await server.api('POST', '/api/apps', {
      name: 'quay',
      http: { max_body: 10, basic_auth: [ann] },
    });
    expect(created.body.http).toMatchObject({ max_body: 10, basic_auth: [{ user: 'ann' }] });
    const change = async (http: unknown) => {
      const { status, body } = await server.api('PATCH', '/api/apps/quay', { http });
      return { status, body, text: JSON.stringify(body) };
    };
    const kept = await change({ allow: ['10.0.0.0/8'], basic_auth: [{ user: 'ann' }] });
    expect(kept.body.http).toMatchObject({ max_body: 10, basic_auth: [{ user: 'ann' }] });
    expect(kept.text).not.toMatch(/sesame|scrypt/);
    expect((await change({ max_body: null })).body.http.max_body).toBeNull();
    const wrongs: readonly (readonly [unknown, RegExp])[] = [
      [{ allow: ['10.0.0.0/99'] }, /http.allow: 10.0.0.0\/99 is neither/],
      [{ maintenance: { allow: ['here'] } }, /http.maintenance.allow: here is neither/],
      [{ maintenance: { note: 'x' } }, /note/],
      [{ basic_auth: [{ user: 'bob' }] }, /bob is new and needs a password/],
      [{ basic_auth: [ann, ann] }, /names ann twice/],
      [{ basic_auth: [{ user: 'a:b', password: 'x' }] }, /user/],
      [{ rate_limit: { requests: '0/1s' } }, /requests/],
      [{ rate_limit: { requests: '5/1s', per: 1 } }, /per/],
      [{ timeout_s: 0 }, /timeout_s/],
      [{ max_body: -1 }, /max_body/],
    ];
    for (const [wrong, why] of wrongs) {
      const { status, body } = await change(wrong);
      expect([status, body.error]).toEqual([400, expect.stringMatching(why)]);
    }
  });
});
