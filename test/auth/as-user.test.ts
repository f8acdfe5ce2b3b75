import { afterEach, beforeEach, expect, it } from 'vitest';
import { systemContext } from '../../runtime/core/own-context/system-context.ts';
import { describeEachDatabase, startServer, type TestServer } from './harness.ts';

describeEachDatabase('ctx.as', (database) => {
  let server: TestServer;
  beforeEach(async () => {
    server = await startServer({ database });
  });
  afterEach(() => server.close());

  const registered = async (): Promise<number> => {
    await server.register('ann@example.test');
    return (await server.rows('users'))[0]?.['id'];
  };

  it('is the context of a user', async () => {
    const id = await registered();
    const ctx = await systemContext(server.kernel).as(id);
    expect(ctx.user).toMatchObject({ id: String(id) });
    expect((await systemContext(server.kernel).as(String(id))).user?.id).toBe(String(id));
  });

  it('is refused for a user who is gone or disabled', async () => {
    const id = await registered();
    const as = (user: number | string) => systemContext(server.kernel).as(user);
    for (const other of [77, 'x', -1, ''])
      await expect(as(other)).rejects.toMatchObject({ code: 'UNAUTHENTICATED', status: 401 });
    await server.kernel.store.db
      .updateTable('auth_users')
      .set({ disabled_at: Date.now() })
      .execute();
    await expect(as(id)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
  });
});
