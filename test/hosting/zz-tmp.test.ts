import { it } from 'vitest';
import { startServer } from '/work/main/test/hosting/server.ts';
import { hostileCalls, hostileWebhooks } from '/work/main/test/hosting/hostile.ts';
it('x', async () => {
  const server = await startServer({ socket: process.env.TEST_DOCKER_SOCKET! });
  await server.api('POST', '/api/apps', { name: 'shop' });
  const { secret } = (await server.api('PUT', '/api/apps/shop/webhook')).body;
  for (const [title, { method, path, body, headers, status }] of [...hostileCalls, ...hostileWebhooks(secret)]) {
    console.log(title);
    const a = await Promise.race([server.api(method, path, body, headers as never), new Promise((r) => setTimeout(r, 5000, 'HANG'))]);
    if (a === 'HANG') console.log('HANG', title);
  }

  const t = async (n, w) => console.log(n, await Promise.race([w().then((x) => 'ok ' + JSON.stringify(x ?? null).slice(0, 60)), new Promise((r) => setTimeout(r, 5000, 'HANG'))]));
  await t('apps', () => server.api('GET', '/api/apps'));
  await t('deployments', () => server.api('GET', '/api/apps/shop/deployments'));
  await t('shop', () => server.api('GET', '/api/apps/shop'));
  await t('clear', () => server.clear());
  await t('stop', () => server.stop());
}, 100000);
