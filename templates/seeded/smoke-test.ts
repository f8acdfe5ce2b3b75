import type { Project } from '@twofold/schema';
import { templates } from '../capabilities.ts';
import { code, type Code, file, local, runtime } from '../code.ts';
import { str } from '../literal.ts';
import { rootNames } from '../owned/type-names.ts';

/**
 * `test/smoke.test.ts`: written once; it belongs to the user. Starts the server with an in-memory
 * database and requests its health endpoint. It sets the secrets of every capability, because one
 * may be enabled later.
 */
export function renderSmokeTest(project: Project): string {
  const names = templates.flatMap((each) => (each.secrets ?? []).map(({ name }) => name));
  const secrets = [...new Set(names)];
  return file(
    '',
    code`
      const server = ${runtime('createServer')}(${local('../src/generated/app.ts', 'app')});
      let url = '';

      // A fresh clone has no .env: the test invents the settings that the server needs, or will need.
      const env = {
        DATABASE_URL: ':memory:',
        LOG_LEVEL: 'silent',
        ${secrets.map((name) => code`${name}: ${random()}(32).toString('hex'),`)}
      };

      ${node('before')}(async () => {
        const running = await server.start('127.0.0.1:0', { env: { ...process.env, ...env } });
        url = running.url;
      });

      ${node('after')}(() => server.close());

      ${node('test')}('the server is healthy', async () => {
        const response = await fetch(new URL('/api/health', url));
        ${assert()}.equal(response.status, 200);
      });

      test('GraphQL answers', async () => {
        const response = await fetch(new URL(${str(project.api.path)}, url), {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ query: '{ __typename }' }),
        });
        assert.deepEqual(await response.json(), { data: { __typename: ${str(rootNames(project).query)} } });
      });
    `,
  );
}

function random(): Code {
  const name = 'randomBytes';
  return { text: name, imports: [{ from: 'node:crypto', name, as: name, typeOnly: false }] };
}

function node(name: 'after' | 'before' | 'test'): Code {
  return { text: name, imports: [{ from: 'node:test', name, as: name, typeOnly: false }] };
}

function assert(): Code {
  return {
    text: 'assert',
    imports: [{ from: 'node:assert/strict', name: 'default', as: 'assert', typeOnly: false }],
  };
}
