import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { request } from 'node:http';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { describeEachEngine } from '../engines/available.ts';
import { importImage } from '../engines/import-image.ts';
import { sourceForm, tarGzOf } from './archives.ts';
import { startServer, token, type TestServer } from './server.ts';

const SECRET = 'hunter2-of-the-vault';

describeEachEngine('a secret', ({ socket }) => {
  let server: TestServer;
  let web: string;
  const lines: string[] = [];
  beforeAll(async () => {
    web = await importImage(socket, 'twofold-test/web:1');
    server = await startServer({
      socket,
      logTo: { write: (line) => void lines.push(line) },
      model: { deploys: { keep: 5, readyTimeout: 1500, drain: 500 } },
    });
  });
  afterEach(() => server?.clear());
  afterAll(() => server?.end());

  it("is in no answer, record, event, error or line of the server's log, whatever goes wrong", async () => {
    const heard: string[] = [];
    const answers: string[] = [];
    const events = request(
      `${server.url}/api/events`,
      { headers: { authorization: `Bearer ${token}` }, agent: false },
      (answer) =>
        void answer
          .setEncoding('utf8')
          .on('data', (text) => heard.push(text))
          .on('error', () => {}),
    );
    events.on('error', () => {}).end();
    const call = async (method: string, path: string, body?: unknown) => {
      const answer = await server.api(method, path, body);
      answers.push(
        `${method} ${path} ${answer.status} ${JSON.stringify(answer.body)} ${JSON.stringify([...answer.headers])}`,
      );
      return answer;
    };
    await call('POST', '/api/apps', { name: 'vault', image: web });
    expect((await call('PUT', '/api/apps/vault/secrets/API_KEY', { value: SECRET })).status).toBe(
      200,
    );
    expect((await call('POST', '/api/apps/vault/deploy', {})).status).toBe(200);
    // The app itself prints it as it fails, as apps do.
    await call('PATCH', '/api/apps/vault', {
      command: ['sh', '-c', 'echo "cannot connect with $API_KEY" >&2; exit 3'],
    });
    const failed = await call('POST', '/api/apps/vault/deploy', {});
    expect([failed.status, failed.body.error]).toEqual([
      502,
      expect.stringContaining('Last line: cannot connect with ********'),
    ]);
    await call('PATCH', '/api/apps/vault', {
      command: ['sh', '-c', 'echo "still $API_KEY"; sleep 60'],
    });
    expect((await call('POST', '/api/apps/vault/deploy', {})).status).toBe(502);
    await call('PATCH', '/api/apps/vault?apply=true', { env: { API_KEY: `${SECRET}\0` } });
    await call('PUT', '/api/apps/vault/env', { API_KEY: { value: SECRET } });
    await call('PUT', '/api/apps/vault/secrets/bad-key', { value: SECRET });
    await call('PUT', '/api/apps/vault/secrets/API_KEY', { value: SECRET, more: SECRET });
    await call('POST', '/api/apps/vault/deploy', { image: `localhost/none:${SECRET.length}` });
    await call('POST', '/api/apps/vault/deploy', {
      git: { url: 'https://nobody.invalid/a', token: SECRET },
    });
    answers.push(
      JSON.stringify(
        await server.api(
          'POST',
          '/api/deploy?wait=true',
          sourceForm(
            { name: 'vault' },
            tarGzOf({ Dockerfile: `FROM ${web}\nRUN env && exit 1\n` }),
          ),
        ),
      ),
    );
    for (const path of [
      '/api/apps',
      '/api/apps/vault',
      '/api/apps/vault/deployments',
      '/api/apps/vault/stats',
      '/api/system/info',
      '/api/system/config',
      '/api/system/audit',
    ])
      await call('GET', path);
    const { deployments } = (await call('GET', '/api/apps/vault/deployments')).body;
    for (const { number } of deployments)
      for (const path of ['', '/logs'])
        await call('GET', `/api/apps/vault/deployments/${number}${path}`);
    events.destroy();

    const rows: string[] = [];
    for (const table of [
      'hosting_apps',
      'hosting_deployments',
      'hosting_settings',
      'hosting_deliveries',
      'twofold_audit',
    ] as const)
      rows.push(
        ...(await server.kernel.store.db.selectFrom(table).selectAll().execute()).map((row) =>
          JSON.stringify(row),
        ),
      );
    // What was sent in a place that is not a secret's is the caller's own word; here nothing was.
    expect(
      [answers, rows, heard, lines].map((texts) => texts.filter((text) => text.includes(SECRET))),
    ).toEqual([[], [], [], []]);
    expect([answers.length > 20, rows.length > 5, heard.length > 2]).toEqual([true, true, true]);
  });

  it('is in no address that the engine is asked by, which its own log may hold', async () => {
    const asked: string[] = [];
    const path = join(mkdtempSync(join(tmpdir(), 'tf-between-')), 'engine.sock');
    const between = createServer((client) => {
      const engine = connect(socket);
      client
        .on('data', (data) =>
          asked.push(...(data.toString('latin1').match(/^[A-Z]+ \/\S* HTTP/gm) ?? [])),
        )
        .on('error', () => engine.destroy());
      engine.on('error', () => client.destroy());
      client.pipe(engine).pipe(client);
    }).listen(path);
    await once(between, 'listening');
    const watched = await startServer({ socket: path });
    await watched.api('POST', '/api/apps', { name: 'quiet' });
    await watched.api('PUT', '/api/apps/quiet/secrets/API_KEY', { value: SECRET });
    expect((await watched.api('POST', '/api/apps/quiet/deploy', { image: web })).status).toBe(200);
    expect(
      (
        await watched.api('POST', '/api/apps/quiet/exec', {
          command: ['sh', '-c', 'printf %s "$API_KEY"'],
        })
      ).body.stdout,
    ).toBe(SECRET);
    await watched.end();
    between.close();
    expect(asked.filter((line) => line.includes('/containers/create?name=')).length).toBe(1);
    expect(asked.filter((line) => line.includes(SECRET) || line.includes('API_KEY'))).toEqual([]);
  });

  it('reaches the app that it is for, byte for byte', async () => {
    const odd = 'a=b "c" \'d\' $HOME `id` \\n\nsecond line\t✓';
    await server.api('POST', '/api/apps', { name: 'exact' });
    await server.api('PUT', '/api/apps/exact/secrets/ODD', { value: odd });
    expect((await server.api('POST', '/api/apps/exact/deploy', { image: web })).status).toBe(200);
    expect(
      (
        await server.api('POST', '/api/apps/exact/exec', {
          command: ['sh', '-c', 'printf %s "$ODD"'],
        })
      ).body.stdout,
    ).toBe(odd);
  });

  it('and what an app prints makes nothing of its own in a stream: no event, no line, no header', async () => {
    const print = String.raw`printf 'one\rid: 9\revent: removed\rdata: {}\r\rtwo\n\033[2J\007bell\n\377\376 no text\na\000b\n\nend\n'; exec httpd -f -p $PORT -h /www`;
    await server.api('POST', '/api/apps', {
      name: 'noisy',
      image: web,
      command: ['sh', '-c', print],
    });
    const plain = await server.api('GET', '/api/apps/noisy/logs');
    expect(plain.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(plain.headers.get('x-content-type-options') ?? 'nosniff').toBe('nosniff');
    expect(plain.body.split('\n').length).toBe(7);
    const text = await new Promise<string>((resolve, reject) => {
      let seen = '';
      const asked = request(
        `${server.url}/api/apps/noisy/logs?tail=100`,
        {
          agent: false,
          headers: { authorization: `Bearer ${token}`, accept: 'text/event-stream' },
        },
        (answer) => {
          answer
            .setEncoding('utf8')
            .on('data', (data) => {
              seen += data;
              if (!seen.includes('data: end\n\n')) return;
              resolve(seen);
              asked.destroy();
            })
            .on('error', () => {});
        },
      );
      asked.on('error', reject).end();
    });
    const fields = text.split(/\r\n|\r|\n/).filter((line) => line !== '' && !line.startsWith(':'));
    expect(fields.filter((line) => !/^(id: [0-9a-f]{12,64}=|data: )/.test(line))).toEqual([]);
    expect(fields).toContain('data: event: removed');
  });
});
