import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { hosting } from '@twofold/hosting';
import { models } from '@twofold/models';
import { systemContext, type Kernel } from '@twofold/runtime/kernel';
import { startReceiver } from '../auth/receiver.ts';
import { importImage } from '../engines/import-image.ts';
import { startHub, type TestHub } from '../models/hub.ts';
import { tinyModel } from '../models/tiny-gguf.ts';
import { addUsers, bearerOf, MANIFEST } from './pages.ts';
import { linkLibrary } from '../models/server.ts';
import { type ConsoleServer, startConsole } from './server.ts';

/** A server that has every page of the console, each with something to show. */
export interface WholeServer extends ConsoleServer {
  readonly operator: Readonly<Record<string, string>>;
  /** Where the webhook sends its events. */
  readonly receiver: Awaited<ReturnType<typeof startReceiver>>;
  readonly hub: TestHub;
  /** The image of the app `web`. */
  readonly image: string;
  end(): Promise<void>;
}

/** The model that the page Models lists, and its file on the hub of the test. */
export const MODEL = 'tests/tiny-GGUF';

const OWN_PAGE = `import { definePage, html, useQuery, Table, Plot } from '@twofold/console';
export default definePage({ title: 'Sales', path: 'sales', render: () => {
  const { data, error, loading, reload } = useQuery('/api/posts?limit=50');
  return html\`<\${Plot} name="Totals" series=\${[{ name: 'total', unit: '', points: [[60, 1], [120, 2]] }]} />
    <\${Table} name="Posts" rows=\${data?.data} error=\${error} loading=\${loading} again=\${reload} columns=\${['id', 'title']} />\`;
} });
`;

export interface WholeOptions {
  /** A text from outside, which stands in everything that has a free text. */
  readonly text?: string;
  /** The values of environment variables of the app. */
  readonly env?: Readonly<Record<string, string>>;
  /** Without it, the server has its pages and nothing in them. */
  readonly filled?: boolean;
}

/** Starts it on a real engine, whose socket the environment names. Docker or Podman draw the same. */
export async function startWhole({
  text = 'plain',
  env = {},
  filled = true,
}: WholeOptions = {}): Promise<WholeServer> {
  const socket = process.env['TEST_DOCKER_SOCKET'] ?? process.env['TEST_PODMAN_SOCKET'] ?? '';
  const folder = mkdtempSync(join(tmpdir(), 'tf-whole-'));
  linkLibrary(folder);
  mkdirSync(join(folder, 'src/console'), { recursive: true });
  writeFileSync(join(folder, 'src/console/sales.ts'), OWN_PAGE);
  const hub = await startHub({ [MODEL]: { files: { 'tiny.gguf': tinyModel({ seed: 1 }) } } });
  const receiver = await startReceiver(() => 204);
  const server = await startConsole({
    manifest: wholeManifest(socket, text),
    capabilities: [hosting(), models()],
    ownPages: [{ title: 'Sales', path: 'sales', permission: null, file: 'src/console/sales.ts' }],
    jobs: {
      letter: { run: () => {} },
      yearly: { schedule: '0 8 1 1 *', timezone: 'Europe/Berlin', run: () => {} },
      broken: {
        attempts: 1,
        run: () => {
          throw new Error(text);
        },
      },
    },
    root: pathToFileURL(`${folder}/`),
    env: {
      DATABASE_URL: 'file:data/app.db',
      HOSTING_INGRESS: 'inline',
      HF_ENDPOINT: hub.url,
      PATH: process.env['PATH'] ?? '',
    },
  });
  await addUsers(server);
  const operator = await bearerOf(server, 'operator');
  const image = await importImage(socket, 'twofold-test/web:1');
  const whole = { ...server, operator, hub, receiver, image };
  if (filled) await fill(whole, { text, env });
  return {
    ...whole,
    async end() {
      await server.call('DELETE', '/api/apps/web?volumes=true', undefined, operator);
      await Promise.all([server.close(), hub.close(), receiver.close()]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const wholeManifest = (socket: string, name: string) => `${MANIFEST.replace(
  'name: shop',
  'name: shop\njobs: { concurrency: 2 }',
)}
hosting:
  engine: { socket: "${socket}" }
  domain: apps.test
  disk_floor: 0B
  defaults: { memory: 128MiB, pids: 256 }
  deploys: { ready_timeout: 5s, drain: 1s }
  ingress: { http: 0, https: 0 }
  models: { engine: llamacpp, list: [${JSON.stringify({ id: MODEL, name })}] }
`;

type Filling = Omit<WholeServer, 'end'>;

/** Rows, an app, jobs in three states, a webhook with deliveries, and lines of the log. */
async function fill(
  server: Filling,
  { text, env }: Required<Pick<WholeOptions, 'text' | 'env'>>,
): Promise<void> {
  const made = async (path: string, body: object) => {
    const answer = await server.call('POST', path, body, server.operator);
    if (answer.status >= 300) throw new Error(`${path}: ${answer.status} ${answer.text}`);
    return answer.body;
  };
  await made('/api/authors', { name: text });
  await made('/api/posts', { title: text.slice(0, 40), authorId: '1' });
  await made('/api/auth/admin/webhooks', { url: server.receiver.url, types: ['*'] });
  await made('/api/auth/admin/api-keys', { name: text, scopes: ['posts:read'] });
  const volumes = [{ name: 'data', path: '/data' }];
  await made('/api/apps', {
    name: 'web',
    image: server.image,
    volumes,
    env: { WORDS: text, ...env },
    cron: [{ name: 'nightly', schedule: '0 3 * * *', command: ['sh', '-c', 'echo cleaned', text] }],
  });
  await sendJobs(server.kernel, text);
  server.log.warn({ words: text }, text);
}

async function sendJobs(kernel: Kernel, text: string): Promise<void> {
  const { jobs } = systemContext(kernel);
  await jobs.send('letter', { text });
  await jobs.send('broken', { text });
  await jobs.send('letter', { text }, { delay: '1h' });
}
