import { afterAll, beforeAll, expect, it } from 'vitest';
import { asRoot, describeEachDatabase, startServer, type TestServer } from './harness.ts';
import { startReceiver } from './receiver.ts';

const hooks = '/api/auth/admin/webhooks';

describeEachDatabase('deliveries of a webhook', (database) => {
  let server: TestServer;
  let receiver: Awaited<ReturnType<typeof startReceiver>>;
  let answer = 500;
  let id: string;
  const call = (method: string, path: string, body?: unknown) =>
    server.call(method, `${hooks}${path}`, body, asRoot);
  const list = async (query = '') => (await call('GET', `/${id}/deliveries${query}`)).body;
  const wake = () => server.login('nobody@x.test', 'x');

  beforeAll(async () => {
    receiver = await startReceiver(() => answer);
    server = await startServer({
      database,
      auth: {
        events: {
          webhooks: [
            {
              url: `${receiver.url}/manifest`,
              secretEnv: 'WEBHOOK_SECRET',
              types: ['user.deleted'],
            },
          ],
        },
      },
      env: { WEBHOOK_SECRET: `whsec_${Buffer.alloc(32, 7).toString('base64')}` },
    } as never);
    const made = await call('POST', '', { url: receiver.url, types: ['user.registered'] });
    id = made.body.id;
    for (let count = 0; count < 3; count += 1) await server.register();
  });
  afterAll(async () => {
    await server.close();
    await receiver.close();
  });

  it('are listed newest first, by status and page by page', async () => {
    await expect.poll(() => receiver.deliveries.length).toBeGreaterThanOrEqual(3);
    const codes = async () =>
      (await list()).deliveries.map((each: { last_code: number }) => each.last_code);
    await expect.poll(codes).toEqual([500, 500, 500]);
    const { deliveries, next_cursor } = await list();
    expect(next_cursor).toBeNull();
    expect(Object.keys(deliveries[0]).sort()).toEqual(
      'attempt created_at event_id id last_code last_error next_at status type'.split(' '),
    );
    expect(deliveries[0]).toMatchObject({
      type: 'user.registered',
      status: 'pending',
      last_code: 500,
      last_error: null,
      next_at: expect.stringMatching(/^\d{4}-.*Z$/),
    });
    const ids = deliveries.map((each: { id: string }) => each.id);
    expect(ids).toEqual([...ids].sort().toReversed());
    const first = await list('?limit=2');
    expect(first.next_cursor).toBe(ids[1]);
    const rest = await list(`?limit=2&cursor=${first.next_cursor}`);
    expect([rest.deliveries.map((each: { id: string }) => each.id), rest.next_cursor]).toEqual([
      [ids[2]],
      null,
    ]);
    expect((await list('?status=delivered')).deliveries).toEqual([]);
    for (const wrong of ['?status=gone', '?limit=201', '?limit=0'])
      expect((await call('GET', `/${id}/deliveries${wrong}`)).status, wrong).toBe(400);
    for (const missing of ['wh_none', '%00', 'x'.repeat(200)])
      expect((await call('GET', `/${missing}/deliveries`)).status, missing).toBe(404);
  });

  it('are sent again with the id of the event, and new attempts', async () => {
    answer = 204;
    const { deliveries } = await list();
    const [{ id: did, event_id }] = deliveries;
    const before = receiver.deliveries.length;
    const again = await call('POST', `/${id}/deliveries/${did}/redeliver`);
    expect([again.status, again.body]).toMatchObject([
      202,
      { id: did, status: 'pending', attempt: 0 },
    ]);
    await expect.poll(() => receiver.deliveries.length).toBeGreaterThan(before);
    expect(receiver.deliveries.map(({ headers }) => headers['webhook-id'])).toContain(event_id);
    await expect
      .poll(async () => (await list('?status=delivered')).deliveries.map((each: any) => each.id))
      .toContain(did);
    const [delivered] = (await list('?status=delivered')).deliveries;
    expect(delivered).toMatchObject({ next_at: null, last_code: 204 });
    expect((await call('POST', `/${id}/deliveries/none/redeliver`)).status).toBe(404);
    expect((await call('POST', `/wh_none/deliveries/${did}/redeliver`)).status).toBe(404);
  });

  it('go elsewhere after a change, and nowhere while the webhook is disabled', async () => {
    const other = await startReceiver();
    const changed = await call('PATCH', `/${id}`, {
      url: other.url,
      types: ['user.registered', 'auth.*'],
    });
    expect([changed.status, changed.body]).toMatchObject([
      200,
      { id, url: other.url, types: ['user.registered', 'auth.*'], disabled_at: null },
    ]);
    expect(changed.text).not.toContain('whsec_');
    await server.register();
    await expect.poll(() => other.deliveries.length).toBeGreaterThan(0);
    const off = await call('PATCH', `/${id}`, { disabled: true });
    expect(off.body.disabled_at).toMatch(/^\d{4}-/);
    const [{ id: did }] = (await list()).deliveries;
    const refused = await call('POST', `/${id}/deliveries/${did}/redeliver`);
    expect([refused.status, refused.body.error]).toEqual([
      409,
      'The webhook is disabled: enable it first',
    ]);
    // What was under way when it was disabled may still arrive: each event is looked for by its user.
    const told = ({ body }: { body: { id: unknown } }) =>
      other.deliveries.filter(({ event }) => String(event['user_id']) === String(body.id)).length;
    const unheard = await server.register();
    await wake();
    expect((await call('PATCH', `/${id}`, { disabled: false })).body.disabled_at).toBeNull();
    const heard = await server.register();
    await expect.poll(() => told(heard)).toBeGreaterThan(0);
    expect(told(unheard)).toBe(0);
    await other.close();
  });

  it('a change is refused that a webhook cannot take', async () => {
    for (const body of [
      { url: 'http://hooks.test/x' },
      { url: 7 },
      { types: ['no.such'] },
      { types: 'user.*' },
      { disabled: 'yes' },
    ])
      expect((await call('PATCH', `/${id}`, body)).status, JSON.stringify(body)).toBe(400);
    expect((await call('PATCH', '/wh_none', { disabled: true })).status).toBe(404);
    const { webhooks } = (await call('GET', '')).body;
    const { id: own } = webhooks.find(({ source }: { source: string }) => source === 'manifest');
    const refused = await call('PATCH', `/${own}`, { types: ['*'] });
    expect([refused.status, refused.body.error]).toEqual([
      409,
      'The webhook stands in manifest.yaml: change it there',
    ]);
    expect((await call('PATCH', `/${own}`, { disabled: true })).status).toBe(200);
  });

  it('are read with auth:read, and changed with auth:manage', async () => {
    const key = async (scopes: string[]) => {
      const { body } = await server.call(
        'POST',
        '/api/auth/admin/api-keys',
        { name: 'k', scopes },
        asRoot,
      );
      return { 'X-API-Key': body.key ?? body.api_key ?? body.secret };
    };
    const reader = await key(['auth:read']);
    const path = `${hooks}/${id}`;
    expect((await server.call('GET', `${path}/deliveries`, undefined, reader)).status).toBe(200);
    expect((await server.call('PATCH', path, { disabled: true }, reader)).status).toBe(403);
    const [{ id: did }] = (await list()).deliveries;
    const redeliver = `${path}/deliveries/${did}/redeliver`;
    expect((await server.call('POST', redeliver, undefined, reader)).status).toBe(403);
    expect((await server.call('GET', `${path}/deliveries`)).status).toBe(401);
  });
});
