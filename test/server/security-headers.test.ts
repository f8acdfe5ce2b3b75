import helmet from 'helmet';
import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { createServer } from '../../runtime/core/server.ts';

it('routes answer with all the headers that helmet sets for a request', async () => {
  const plain = createHttpServer((request, response) =>
    helmet()(request, response, () => response.end()),
  );
  await new Promise<void>((resolve) => plain.listen(0, '127.0.0.1', resolve));
  const running = await createServer()
    .schema('type Query { hello: String }')
    .start('127.0.0.1:0', { env: { DATABASE_URL: ':memory:', LOG_LEVEL: 'silent' } });
  try {
    const { port } = plain.address() as AddressInfo;
    const expected = Object.fromEntries((await fetch(`http://127.0.0.1:${port}`)).headers);
    for (const name of ['connection', 'content-length', 'date', 'keep-alive'])
      delete expected[name];
    expect(Object.keys(expected).length).toBeGreaterThan(8);
    for (let time = 0; time < 2; time += 1) {
      const { headers } = await fetch(`${running.url}/api/health`);
      expect(Object.fromEntries(headers)).toMatchObject(expected);
    }
  } finally {
    await running.close();
    plain.closeAllConnections();
    plain.close();
  }
});
