import { afterEach, describe, expect, it } from 'vitest';
import type { Plugin } from '../../runtime/core/plugin.ts';
import { databases } from '../graphql/harness.ts';
import { authOf, closeServers, serve } from './own-server.ts';
import { BETTER, GOOD } from './server.ts';

afterEach(closeServers);

const routes: NonNullable<Plugin['routes']> = (router) => {
  router.post('/change', (ctx) =>
    authOf(ctx).changePassword(ctx.request.body.id, ctx.request.body),
  );
  router.post('/impersonated', (ctx) => {
    ctx.values.set('impersonator', 7);
    return authOf(ctx).changePassword(ctx.request.body.id, ctx.request.body);
  });
  router.post('/identity', async (ctx) => {
    const row = { provider: 'acme', subject: 'x', email: null, email_verified: 0, created_at: 0 };
    await ctx.db
      .insertInto('auth_identities')
      .values({ ...row, user_id: ctx.request.body.id })
      .execute();
  });
  router.get('/identities', async (ctx) => ({
    count: (await ctx.db.selectFrom('auth_identities').selectAll().execute()).length,
  }));
};

// own-code.md §9: bodies, checks and limits are the endpoint's.
describe.each(databases)('ctx.auth.changePassword on %s', (database) => {
  const start = async (auth = '{}') => {
    const { call, register } = await serve({ plugin: { routes }, auth, database });
    const { id } = (await register('ada@example.com')).body;
    await call('POST /identity', { id });
    const change = (body: object, path = '/change') =>
      call(`POST ${path}`, { id, current_password: GOOD, new_password: BETTER, ...body });
    const identities = async () => (await call('GET /identities')).body.count;
    return { change, identities };
  };

  it('ends foreign identities, unless `keep` names them, and checks the body', async () => {
    const { change, identities } = await start();
    expect(await change({ keep: ['sessions'] })).toMatchObject({ status: 400 });
    expect(await change({ current_password: undefined })).toEqual({
      status: 400,
      body: { error: 'current_password is required' },
    });
    expect((await change({ keep: ['identities'] })).status).toBe(204);
    expect(await identities()).toBe(1);
    const back = { current_password: BETTER, new_password: GOOD };
    expect((await change(back)).status).toBe(204);
    expect(await identities()).toBe(0);
  });

  it('refuses an administrator who acts as the user', async () => {
    const { change, identities } = await start();
    expect(await change({}, '/impersonated')).toEqual({
      status: 403,
      body: { error: 'Reauthentication required' },
    });
    expect(await identities()).toBe(1);
  });

  it('counts for the limit of the address', async () => {
    const { change } = await start('{ rate_limits: { auth-ip: 3/1m } }');
    const wrong = { current_password: 'wrong' };
    // The registration was the first call of this minute.
    const statuses = [];
    for (let count = 0; count < 3; count += 1) statuses.push((await change(wrong)).status);
    expect(statuses).toEqual([401, 401, 429]);
  });
});
