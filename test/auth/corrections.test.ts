import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { authFlows } from '../../runtime/auth/flows/index.ts';
import { createLocalPair } from '../hosting/local-pair.ts';
import { API_KEY, describeEachDatabase, startServer, type TestServer, USER } from './harness.ts';

const median = (values: readonly number[]) =>
  values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)]!;

describeEachDatabase('auth-2 §13 require_api_key', (database) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({
      database,
      entity: USER,
      auth: { requireApiKey: true, emailSignIn: 'both' },
    });
  });
  afterAll(() => server.close());

  /** The provider sends the browser there, so it cannot have a key. */
  const WITHOUT = new Set(['oauthCallback']);
  const opening = authFlows.filter(
    ({ id, access, responses }) =>
      access === 'public' &&
      !WITHOUT.has(id) &&
      JSON.stringify(responses).includes('"accessToken"'),
  );

  it('is asked by every route that opens or continues a session, and by the start of a flow', async () => {
    const starts = authFlows.filter(({ id }) => id === 'oauthStart' || id === 'oauthStartOfPage');
    expect(opening.length).toBeGreaterThan(5);
    for (const { id, method, path, ...spec } of [...opening, ...starts]) {
      const body = 'body' in spec ? bodyOf(spec.body.schema) : undefined;
      // Without a ticket it is a call of a user who is signed in.
      if (
        'body' in spec &&
        'ticket' in ((spec.body.schema as { properties?: object }).properties ?? {})
      )
        Object.assign(body as object, { ticket: 'x'.repeat(43) });
      const at = path.replace(':provider', 'google');
      const without = await server.call(method, at, body);
      expect([id, without.status, without.body]).toEqual([id, 401, { error: 'API key required' }]);
      const withKey = await server.call(method, at, body, { 'X-API-Key': API_KEY });
      expect([id, withKey.text]).not.toEqual([id, '{"error":"API key required"}']);
    }
  });
});

/** Members of a sign-in for an application of the server's own, which has rules of its own. */
const OF_AN_APPLICATION = new Set(['client', 'delivery', 'code']);

/** A body that a JSON Schema accepts. */
function bodyOf(schema: any): unknown {
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return schema.enum[0];
  if (schema.type === 'object') {
    const all = Object.keys(schema.properties ?? {}).filter((name) => !OF_AN_APPLICATION.has(name));
    const names: string[] = schema.required ?? all;
    return Object.fromEntries(names.map((name) => [name, bodyOf(schema.properties[name])]));
  }
  if (schema.type === 'array') return [];
  if (schema.type === 'boolean') return false;
  return 'x'.repeat(43);
}

describeEachDatabase('auth-2 §13 answers before the account is looked up', (database) => {
  it.each(['forgot-password', 'resend-verification'])(
    '%s: the medians of known and unknown addresses are within 15 %%',
    async (path) => {
      const server = await startServer({ database, entity: USER });
      await server.register('known@x.test');
      const ask = async (email: string) => {
        const begun = performance.now();
        await server.call('POST', `/api/auth/${path}`, { email });
        return performance.now() - begun;
      };
      const apart = async () => {
        const times: [number[], number[]] = [[], []];
        for (let index = 0; index < 60; index += 1) {
          times[0].push(await ask('known@x.test'));
          times[1].push(await ask(`unknown${index}@x.test`));
        }
        const [known, unknown] = times.map(median) as [number, number];
        return Math.max(known, unknown) / Math.min(known, unknown);
      };
      await apart();
      // The machine does other work too: a difference that is the server's is there every time.
      await expect.poll(apart, { timeout: 20_000, interval: 0 }).toBeLessThan(1.15);
      await server.close();
    },
  );
});

describeEachDatabase('auth-2 §13 and ASVS 16.3.4 what goes wrong is in the log', (database) => {
  it('an unexpected error with stack, cause and request id, and the answer says none of it', async () => {
    const server = await startServer({
      database,
      options: {
        extend: () => {
          throw new Error('the company is away', { cause: new Error('its disk is full') });
        },
      },
    });
    const { status, text, headers } = await server.register('log@x.test');
    expect([status, text]).toEqual([500, '{"error":"Internal server error"}']);
    const line = server.logs.find((each) => each.includes('the company is away'))!;
    expect(line).toContain('its disk is full');
    expect(line).toContain('corrections.test.ts');
    expect(line).toContain(headers.get('X-Request-Id')!);
    await server.close();
  });

  it('a TLS failure of a service behind, and the password is refused', async () => {
    const { key, certificate } = createLocalPair('localhost');
    const list = createServer({ key, cert: certificate }, (_, response) => void response.end());
    await new Promise<void>((resolve) => list.listen(0, '127.0.0.1', resolve));
    const url = `https://localhost:${(list.address() as AddressInfo).port}/range/`;
    const breached = { url, onFailure: 'refuse' } as const;
    const server = await startServer({ database, auth: { password: { breached } } });
    expect((await server.register('tls@x.test')).status).toBe(503);
    expect(server.logs.join()).toMatch(/the list of breached passwords did not answer/);
    expect(server.logs.join()).toMatch(/self.signed certificate|certificate/i);
    await server.close();
    await new Promise((resolve) => list.close(resolve));
  });
});
