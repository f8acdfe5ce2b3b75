import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ComposeApp } from '../../runtime/hosting/compose/compose-app.ts';
import { readCompose } from '../../runtime/hosting/compose/read-compose.ts';
import { startServer, type TestServer } from './server.ts';

describe('a hostile compose file', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ socket: '/nowhere' });
  });
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
    expect(
      (
        await server.api('POST', '/api/projects/Bad/compose', {
          compose: 'services: { web: { image: "web:1" } }',
        })
      ).status,
    ).toBe(400);
    expect(
      (await server.api('POST', '/api/projects/bad/compose?dry_run=true', { compose: 1 })).status,
    ).toBe(400);
    expect((await server.api('GET', '/api/apps')).body.total).toBe(0);
  });

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
