import { afterAll, beforeAll, expect, it } from 'vitest';
import { callEngine } from '../engines/call-engine.ts';
import { describeEachEngine } from '../engines/available.ts';
import { freePort } from '../engines/free-port.ts';
import { importImage } from '../engines/import-image.ts';
import { tarGzOf } from './archives.ts';
import { startServer, type TestServer } from './server.ts';

/** A web app, a worker, and a service that behaves as a database: volume, health check, environment. */
const FILE = `
x-common: &common
  image: \${IMAGE:?which image}
  restart: unless-stopped
  labels: { team: shop }
services:
  web:
    <<: *common
    ports: ["8080:8080"]
    environment: { GREETING: "\${GREETING:-hello}", PRICE: $$5, TOKEN: }
    depends_on:
      db: { condition: service_healthy }
      migrate: { condition: service_completed_successfully }
    deploy: { replicas: 2, resources: { limits: { memory: 64m, cpus: "0.5", pids: 100 } } }
    networks: [front, back]
  worker:
    <<: *common
    command: sh -c "echo 'at work'; sleep 3600 & wait"
    healthcheck: { test: ["CMD", "true"], interval: 1s }
    depends_on: [db]
    networks: [back]
    stop_grace_period: 1s
  db:
    <<: *common
    command: sh -c 'echo ready > /data/state; exec httpd -f -p 5432 -h /data'
    healthcheck: { test: "grep -q ready /data/state", interval: 1s, timeout: 2s, retries: 2 }
    ports: [{ target: 5432, published: "\${DB_PORT}", app_protocol: tcp }]
    volumes: ["data:/data"]
    networks: [back]
    mem_limit: 32m
  migrate:
    <<: *common
    command: sh -c 'wget -q -O /data/seen http://db:5432/state && echo migrated'
    depends_on: { db: { condition: service_healthy } }
    volumes: ["data:/data"]
    networks: [back]
  lonely:
    <<: *common
    command: sleep 3600
    init: true
    healthcheck: { test: ["CMD", "true"] }
    networks: [front]
    stop_grace_period: 1s
networks: { front: , back: }
volumes: { data: }
`;

describeEachEngine('a compose file', ({ socket }) => {
  let server: TestServer;
  let image: string;
  let port: number;
  beforeAll(async () => {
    image = await importImage(socket, 'twofold-test/web:1');
    server = await startServer({ socket, onStep: (step) => void steps.push(step) });
    port = await freePort();
  });
  afterAll(() => server?.end());

  const up = (compose: string, query = '', given: Record<string, string> = { IMAGE: image }) => {
    const env = { DB_PORT: String(port), ...given };
    return server.api('POST', `/api/projects/shop/compose${query}`, { compose, env });
  };
  const steps: string[] = [];
  const run = async (app: string, ...command: string[]) =>
    (await server.api('POST', `/api/apps/${app}/exec`, { command, timeout_s: 20 })).body;
  const get = async (app: string, url: string) =>
    (await run(app, 'timeout', '3', 'wget', '-q', '-O', '-', url)).stdout;
  const names = ['db', 'lonely', 'migrate', 'web', 'worker'].map((each) => `shop-${each}`);
  const none = { created: [], changed: [], unchanged: [], gone: [] };

  it('says what it would do, does it, and does nothing the second time', async () => {
    const dry = await up(FILE, '?dry_run=true');
    expect([dry.status, dry.body]).toEqual([200, { ...none, created: names }]);
    expect((await server.api('GET', '/api/apps')).body.total).toBe(0);
    const first = await up(FILE);
    expect([first.status, first.body]).toEqual([200, { ...none, created: names }]);
    const again = await up(FILE);
    expect([again.status, again.body]).toEqual([200, { ...none, unchanged: names }]);
  });

  it('its services are apps that reach each other where they share a network', async () => {
    expect((await server.visit('shop-web.apps.test')).text).toBe('version 1\n');
    expect(await get('shop-web', 'http://db:5432/state')).toBe('ready\n');
    expect(await get('shop-worker', 'http://shop-db:5432/state')).toBe('ready\n');
    expect(await get('shop-worker', 'http://db:5432/seen')).toBe('ready\n');
    expect(await get('shop-lonely', 'http://web:8080/')).toBe('version 1\n');
    expect(await get('shop-lonely', 'http://db:5432/state')).toBe('');
    expect(await (await fetch(`http://127.0.0.1:${port}/state`)).text()).toBe('ready\n');
    await server.api('POST', '/api/apps', { name: 'stranger', image });
    expect(await get('stranger', 'http://shop-db:5432/state')).toBe('');
    const web = (await server.api('GET', '/api/apps/shop-web')).body;
    expect(web).toMatchObject({
      ...{ project: 'shop', port: 8080, replicas: 2, networks: ['back', 'front'] },
      env: { GREETING: 'hello', PRICE: '$5' },
      resources: { memory_mb: 64, cpus: 0.5, pids: 100 },
    });
    const db = (await server.api('GET', '/api/apps/shop-db')).body;
    expect(db).toMatchObject({
      ...{ port: null, domain: null },
      health: {
        command: ['/bin/sh', '-c', 'grep -q ready /data/state'],
        interval_s: 1,
        retries: 2,
      },
      resources: { memory_mb: 32 },
    });
    expect((await server.api('GET', '/api/apps/shop-migrate')).body.status).toBe('stopped');
  });

  it('a change touches the changed service only, and what is gone goes only when asked', async () => {
    const changed = FILE.replace('$$5', () => '$$6').replace(
      / {2}lonely:[\s\S]*?(?=networks: \{)/,
      '',
    );
    const kept = ['shop-db', 'shop-migrate', 'shop-worker'];
    const expected = { ...none, changed: ['shop-web'], unchanged: kept, gone: ['shop-lonely'] };
    expect((await up(changed)).body).toEqual(expected);
    expect((await server.api('GET', '/api/apps/shop-web')).body.env.PRICE).toBe('$6');
    expect((await server.api('GET', '/api/apps/shop-lonely')).status).toBe(200);
    const pruned = await up(changed, '?prune=true');
    expect(pruned.body).toMatchObject({ changed: [], gone: ['shop-lonely'] });
    expect((await server.api('GET', '/api/apps/shop-lonely')).status).toBe(404);
    await server.api('PATCH', '/api/apps/shop-worker', { env: { BY: 'hand' } });
    expect((await up(changed, '?dry_run=true')).body.changed).toEqual(['shop-worker']);
  });

  it('a service that does not start stops those that depend on it, and is tried again', async () => {
    const file = (command: string) => `
services:
  first: { image: "${image}", command: [sh, -c, "${command}"], healthcheck: { test: [CMD, "true"] } }
  second: { image: "${image}", depends_on: [first], ports: ["80:8080"] }
`;
    const put = (command: string) =>
      server.api('POST', '/api/projects/steps/compose', { compose: file(command) });
    const failed = await put('exit 3');
    expect([failed.status, failed.body.error]).toEqual([
      502,
      expect.stringMatching(/^steps-first: .*exit code 3/),
    ]);
    expect((await server.api('GET', '/api/apps/steps-second')).status).toBe(404);
    const good = await put('trap exit TERM; sleep 3600 & wait');
    expect(good.body).toEqual({ ...none, changed: ['steps-first'], created: ['steps-second'] });
    expect((await server.api('DELETE', '/api/projects/steps')).status).toBe(200);
  });

  it('a source is built, its files are copied in, and its variables are read', async () => {
    const compose = `
services:
  web:
    build: { context: ./web, dockerfile: Own.Dockerfile, target: last, args: { WORD: "\${WORD:-built}" } }
    ports: ["80:8080"]
    env_file: [common.env, { path: absent.env, required: false }]
    environment: [NAME=web]
    volumes: ["./conf:/etc/conf:ro", "./motd:/www/motd"]
  also:
    build: { context: ./web, dockerfile: Own.Dockerfile, target: last, args: { WORD: also } }
    ports: ["81:8080"]
`;
    const source = {
      'compose.yaml': compose,
      'web/Own.Dockerfile': `FROM ${image} AS last\nARG WORD\nRUN echo $WORD > /www/index.html\nFROM ${image}\n`,
      'common.env': 'NAME=file\nCOLOR="deep blue"\n# a note\n',
      'conf/a/one.conf': 'one',
      motd: 'welcome',
    };
    const put = async (files: Record<string, string>, query = '?wait=true') => {
      const form = new FormData();
      form.set('source', new Blob([tarGzOf(files) as Uint8Array<ArrayBuffer>]));
      form.set('env', JSON.stringify({ UNUSED: 1 }));
      return server.api('POST', `/api/projects/built/compose${query}`, form);
    };
    const both = ['built-also', 'built-web'];
    steps.length = 0;
    const first = await put(source);
    expect([first.status, first.body]).toEqual([200, { ...none, created: both }]);
    expect((await server.visit('built-web.apps.test')).text).toBe('built\n');
    expect((await server.visit('built-also.apps.test')).text).toBe('also\n');
    // The archive is stored once, however many services are built from it.
    expect(steps.filter((step) => step === 'received' || step === 'built')).toEqual([
      ...['received', 'built', 'built'],
    ]);
    const seen = await run(
      'built-web',
      'sh',
      '-c',
      'echo $NAME $COLOR; cat /etc/conf/a/one.conf /www/motd',
    );
    expect(seen.stdout).toBe('web deep blue\nonewelcome');
    expect((await put(source)).body).toEqual({ ...none, unchanged: both });
    const next = await put({ ...source, motd: 'hello' }, '');
    expect([next.status, next.body.changed]).toEqual([202, both]);
    const motd = async () => (await server.visit('built-web.apps.test', '/motd')).text;
    await expect.poll(motd, { timeout: 30_000 }).toBe('hello');
    const lacking = await put({ ...source, 'compose.yaml': compose.replace('./web', './api') });
    expect([lacking.status, lacking.body.error]).toEqual([
      422,
      expect.stringContaining('services.web.build'),
    ]);
  });

  it('a volume without our label is refused, and an external one must be there', async () => {
    const file = (name: string) => `
services: { keeper: { image: "${image}", ports: ["80:8080"], volumes: ["old:/data"] } }
volumes: { old: { external: true, name: ${name} } }
`;
    const missing = await server.api('POST', '/api/projects/ext/compose', {
      compose: file('not-there-x'),
    });
    expect([missing.status, missing.body.error]).toEqual([
      422,
      expect.stringContaining('not-there-x'),
    ]);
    expect((await server.api('DELETE', '/api/projects/ext')).status).toBe(200);
    const instance = await instanceOf(server);
    const make = (name: string, labels: Record<string, string>) =>
      callEngine(socket, {
        ...{ method: 'POST', path: '/volumes/create', json: { Name: name, Labels: labels } },
      });
    const [theirs, ours] = [`theirs-${instance}`, `ours-${instance}`];
    await make(theirs, { team: 'another' });
    await make(ours, { 'twofold.instance': instance });
    const foreign = await server.api('POST', '/api/projects/ext/compose', {
      compose: file(theirs),
    });
    expect([foreign.status, foreign.body.error]).toEqual([409, expect.stringContaining(theirs)]);
    const own = await server.api('POST', '/api/projects/ext/compose', { compose: file(ours) });
    expect([own.status, own.body.error]).toEqual([200, undefined]);
    // Neither is deleted with the project.
    expect((await server.api('DELETE', '/api/projects/ext?volumes=true')).status).toBe(200);
    for (const name of [theirs, ours]) {
      const { status } = await callEngine(socket, { path: `/volumes/${name}` });
      expect([name, status]).toEqual([name, 200]);
      await callEngine(socket, { method: 'DELETE', path: `/volumes/${name}` });
    }
  });
});

async function instanceOf({ kernel }: TestServer): Promise<string> {
  const { value } = await kernel.store.db
    .selectFrom('hosting_settings')
    .select('value')
    .where('key', '=', 'instance')
    .executeTakeFirstOrThrow();
  return String(value);
}
