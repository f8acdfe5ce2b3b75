import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeEachEngine } from '../engines/available.ts';
import { freePort } from '../engines/free-port.ts';
import { importImage } from '../engines/import-image.ts';
import type { ComposeApp } from '../../runtime/hosting/compose/compose-app.ts';
import { readCompose } from '../../runtime/hosting/compose/read-compose.ts';
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
    server = await startServer({ socket });
    port = await freePort();
  }, 60_000);
  afterAll(() => server?.end(), 60_000);

  const up = (compose: string, query = '', given: Record<string, string> = { IMAGE: image }) => {
    const env = { DB_PORT: String(port), ...given };
    return server.api('POST', `/api/projects/shop/compose${query}`, { compose, env });
  };
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
  }, 120_000);

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
  }, 60_000);

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
  }, 60_000);

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
  }, 60_000);

  it('a source is built, its files are copied in, and its variables are read', async () => {
    const compose = `
services:
  web:
    build: { context: ./web, dockerfile: Own.Dockerfile, target: last, args: { WORD: "\${WORD:-built}" } }
    ports: ["80:8080"]
    env_file: [common.env, { path: absent.env, required: false }]
    environment: [NAME=web]
    volumes: ["./conf:/etc/conf:ro", "./motd:/www/motd"]
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
    const first = await put(source);
    expect([first.status, first.body]).toEqual([200, { ...none, created: ['built-web'] }]);
    expect((await server.visit('built-web.apps.test')).text).toBe('built\n');
    const seen = await run(
      'built-web',
      'sh',
      '-c',
      'echo $NAME $COLOR; cat /etc/conf/a/one.conf /www/motd',
    );
    expect(seen.stdout).toBe('web deep blue\nonewelcome');
    expect((await put(source)).body).toEqual({ ...none, unchanged: ['built-web'] });
    const next = await put({ ...source, motd: 'hello' }, '');
    expect([next.status, next.body.changed]).toEqual([202, ['built-web']]);
    const motd = async () => (await server.visit('built-web.apps.test', '/motd')).text;
    await expect.poll(motd, { timeout: 30_000 }).toBe('hello');
    const lacking = await put({ ...source, 'compose.yaml': compose.replace('./web', './api') });
    expect([lacking.status, lacking.body.error]).toEqual([
      422,
      expect.stringContaining('services.web.build'),
    ]);
  }, 90_000);

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
  }, 60_000);
});

describe('a hostile compose file', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ socket: '/nowhere' });
  }, 30_000);
  afterAll(() => server.end());
  const dry = (compose: string, env?: object) =>
    server.api('POST', '/api/projects/bad/compose?dry_run=true', { compose, ...(env && { env }) });

  it('is refused whole, and every key is named by its path', async () => {
    const { status, body } = await dry(`
services:
  good: { image: "web:1", ports: ["80:80"] }
  web:
    image: web:1
    privileged: true
    network_mode: host
    devices: ["/dev/kvm:/dev/kvm"]
    cap_add: [SYS_ADMIN]
    volumes: ["/etc:/host", "~/x:/x", "../up:/up", "/anonymous", "other:/o", { type: tmpfs, target: /t }]
    security_opt: [seccomp=unconfined]
    pid: host
    deploy: { mode: global }
    healthcheck: { test: "true", shell: sh }
  My_Service: { image: web:1 }
secrets: { a: { file: /etc/shadow } }
volumes: { data: { driver_opts: { type: none, o: bind, device: / } } }
networks: { out: { external: true } }
`);
    expect(status).toBe(422);
    for (const path of [
      ...['privileged', 'network_mode', 'devices', 'cap_add', 'security_opt', 'pid', 'deploy.mode'],
      ...['healthcheck.shell', ...[0, 1, 2, 3, 4].map((index) => `volumes[${index}]`)],
      'volumes[5].type',
    ])
      expect(body.error).toContain(`services.web.${path} `);
    for (const path of [
      'services.My_Service',
      'secrets',
      'volumes.data.driver_opts',
      'networks.out.external',
    ])
      expect(body.error).toContain(`${path} `);
    expect(body.error).not.toContain('services.good');
    expect((await server.api('GET', '/api/apps')).body.total).toBe(0);
    expect((await server.api('GET', '/api/projects')).body.total).toBe(0);
  });

  it('does not cost more than it is worth: bombs, circles, depth, size, and what is no YAML', async () => {
    const bomb = ['a: &a [x, x, x, x, x, x, x, x, x]']
      .concat(
        'bcdefghi'
          .split('')
          .map((key, index) => `${key}: &${key} [${Array(9).fill(`*${'abcdefgh'[index]}`)}]`),
      )
      .join('\n');
    const service = (text: string) => `services: { web: { image: "web:1", ${text} } }`;
    const wrong: readonly (readonly [string, number, RegExp])[] = [
      [bomb, 400, /aliases/],
      ['a: &a [*a]', 400, /aliases|YAML/],
      ['['.repeat(100_000), 400, /nested|YAML/],
      [`a: "${'x'.repeat(300_000)}"`, 400, /longer/],
      ['services: {', 400, /YAML/],
      ['services: { a: { image: x }, a: { image: y } }', 400, /unique/i],
      ['- 1', 422, /mapping/],
      ['', 400, /compose/],
      ['services: {}', 422, /at least one/],
      [
        'services: { a: { image: "i:1", ports: ["80:80", "7007:7/udp"] }, b: { image: "i:1", ports: ["7007:7/udp"] } }',
        422,
        /services.b.ports names 7007.udp/,
      ],
      [service('environment: { A: "${B" }'), 400, /environment.A/],
      [service('environment: { A: "${B:?say it}" }'), 400, /environment.A needs B in env: say it/],
      [service(`environment: { A: "${'${A:-'.repeat(30)}" }`), 400, /environment.A/],
      [
        `x: &a "${'${A+b}'.repeat(40_000)}"\ny: [${Array(100).fill('*a')}]`,
        400,
        /values of the compose file are too long/,
      ],
      [service('depends_on: [web]'), 422, /circle/],
      [service('depends_on: [none]'), 422, /depends_on\[0\]|depends_on names/],
      [service('build: .'), 422, /services.web.build needs the files/],
      [service('env_file: .env'), 422, /services.web.env_file needs the files/],
      [service('__proto__: { a: 1 }'), 422, /__proto__/],
      [service('ports: ["70000:80"]'), 422, /ports\[0\]/],
      [service('ports: ["80:8080", "53:53/udp"]'), 422, /53 is outside of hosting.ingress.ports/],
      [service('mem_limit: lots'), 422, /mem_limit/],
      [service('mem_limit: 1k'), 422, /services.web .*memory/],
      [service('environment: { "A B": 1 }'), 422, /services.web.environment/],
      [service('command: "sh -c \'open"'), 422, /command has a quote/],
      [service('stop_grace_period: soon'), 422, /stop_grace_period/],
      [service('user: "a b"'), 422, /services.web .*user/],
      [service('volumes: ["data:/data"]'), 422, /volumes\[0\] names the volume data/],
      [
        'services: { web: { image: "web:1", volumes: ["d:/../etc"] } }\nvolumes: { d: }',
        422,
        /services.web/,
      ],
      ['services: { web: { image: "not an image" } }', 422, /services.web.image/],
    ];
    for (const [file, expected, message] of wrong) {
      const { status, body } = await dry(file);
      expect([file.slice(0, 80), status, body.error]).toEqual([
        file.slice(0, 80),
        expected,
        expect.stringMatching(message),
      ]);
    }
    const long = service(
      `environment: { ${Array.from({ length: 200 }, (_, at) => `A${at}: "\${V}"`)} }`,
    );
    expect((await dry(long, { V: 'x'.repeat(60_000) })).body.error).toMatch(/too long/);
    expect((await server.api('POST', '/api/projects/Bad/compose', { compose: FILE })).status).toBe(
      400,
    );
    expect(
      (await server.api('POST', '/api/projects/bad/compose?dry_run=true', { compose: 1 })).status,
    ).toBe(400);
    expect((await server.api('GET', '/api/apps')).body.total).toBe(0);
  }, 30_000);

  it('a name that another app has is a conflict', async () => {
    await server.api('POST', '/api/apps', { name: 'bad-web' });
    const { status, body } = await dry('services: { web: { image: "web:1" } }');
    expect([status, body.error]).toEqual([409, expect.stringContaining('bad-web')]);
    await server.api('DELETE', '/api/apps/bad-web');
  });
});

describe('the values of a compose file', () => {
  const read = (service: string, env: Record<string, string> = {}): ComposeApp =>
    readCompose(`services: { web: { image: "web:1", ${service} } }`, {
      ...{ project: 'shop', env, source: null },
    })[0]![0]!;
  it('variables are replaced as Compose does', () => {
    const env = { A: 'a', EMPTY: '', NESTED: 'n' };
    const texts: Readonly<Record<string, string>> = {
      '$A-${A}-$$A': 'a-a-$A',
      '${EMPTY:-d}${EMPTY-d}${NONE-d}${NONE:-${NESTED}x}': 'ddnx',
      '${A:+yes}${NONE:+yes}${EMPTY+set}': 'yesset',
      '[${NONE}]': '[]',
      '${A?why}${EMPTY?why}': 'a',
      '[$constructor]': '[]',
    };
    for (const [text, expected] of Object.entries(texts))
      expect([text, read(`environment: { V: "${text}" }`, env).env['V']]).toEqual([text, expected]);
  });

  it('variables do not make a text longer than a file may be', () => {
    const env = { A: 'a'.repeat(65_536) };
    expect(() => read(`environment: { V: "${'$A'.repeat(20_000)}" }`, env)).toThrow(
      expect.objectContaining({ status: 400, message: expect.stringMatching(/too long/) }),
    );
  });

  it('commands, durations, sizes and ports are read as Compose does', () => {
    const { fields } = read(
      `command: "sh -c 'a b' \\"c $$d\\" e\\\\ f", entrypoint: [x], user: 1000, init: "true", stop_grace_period: 1m30s,
       mem_limit: 1.5g, cpus: "0.5", pids_limit: 7, healthcheck: { test: x, timeout: 500ms },
       ports: [{ target: 6379, published: 6379, app_protocol: http }]`,
    );
    expect(fields).toMatchObject({
      ...{
        command: ['sh', '-c', 'a b', 'c $d', 'e f'],
        entrypoint: ['x'],
        user: '1000',
        init: true,
      },
      ...{ stop_grace_period: 90, port: 6379, resources: { memory_mb: 1536, cpus: 0.5, pids: 7 } },
      health: { command: ['/bin/sh', '-c', 'x'], timeout_s: 0.5 },
    });
    expect(read('ports: []').fields.port).toBeNull();
    expect(read('ports: ["127.0.0.1:9000:90/tcp"]').fields.port).toBe(90);
    expect(read('environment: [A, B=1, C]', { A: 'given' }).env).toEqual({ A: 'given', B: '1' });
  });

  it('ports beside the one for HTTP are ports of the host', () => {
    const { fields } = read(
      'ports: ["5353:53/udp", "8080:80", "127.0.0.1:5432:5432", { target: 60, published: 6001, app_protocol: tcp }]',
    );
    expect(fields).toMatchObject({
      port: 80,
      ports: [
        { port: 5353, target: 53, protocol: 'udp' },
        { port: 5432, target: 5432, protocol: 'tcp', allow: ['127.0.0.0/8', '::1'] },
        { port: 6001, target: 60, protocol: 'tcp' },
      ],
    });
    for (const wrong of ['"80", "9000"', '"80", "192.0.2.1:9000:90"', '"80", "0:1/udp"'])
      expect(() => read(`ports: [${wrong}]`)).toThrow(/services\.web\.ports\[1\]/);
  });
});
