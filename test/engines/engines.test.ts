import { execFileSync } from 'node:child_process';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { chromium, createDatabase, describeEachEngine, describeWith } from './available.ts';
import { callEngine, engineJson } from './call-engine.ts';
import { importImage } from './import-image.ts';
import { createRun, fetchText, inspect, readLogs } from './run-container.ts';

describeWith('postgres', 'PostgreSQL', () => {
  it('gives each test a database of its own', async () => {
    const { url, drop } = await createDatabase();
    const client = new pg.Client({ connectionString: url });
    client.on('error', () => {}); // The drop below ends the connection from the other side.
    await client.connect();
    await client.query('CREATE TABLE note (text text); INSERT INTO note VALUES ($$real$$)');
    const { rows } = await client.query('SELECT text FROM note');
    expect(rows).toEqual([{ text: 'real' }]);
    await drop();
    await expect(client.query('SELECT 1')).rejects.toThrow();
  });
});

describeWith('chromium', 'Chromium', () => {
  it('renders a page', () => {
    const page = 'data:text/html,<p id=x></p><script>x.textContent = 6 * 7</script>';
    const args = ['--headless=new', '--no-sandbox', '--disable-gpu', '--dump-dom', page];
    const html = execFileSync(chromium ?? '', args, {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      timeout: 50_000,
    });
    expect(html).toContain('<p id="x">42</p>');
  });
});

describeEachEngine('a container', ({ socket }) => {
  const { name, start, labels, clear } = createRun(socket);

  beforeAll(async () => {
    await importImage(socket, 'twofold-test/web:1');
    await importImage(socket, 'twofold-test/web:2');
  });

  afterAll(clear);

  it('answers on its published port and on its own address, and keeps its log', async () => {
    const id = await start('twofold-test/web:1', {
      Env: ['PORT=9000'],
      ExposedPorts: { '9000/tcp': {} },
      HostConfig: { PortBindings: { '9000/tcp': [{ HostIp: '127.0.0.1', HostPort: '' }] } },
    });
    const { NetworkSettings } = await inspect(socket, id);
    const port = NetworkSettings.Ports['9000/tcp']?.[0]?.HostPort;
    expect(await fetchText(`http://127.0.0.1:${port}/`)).toBe('version 1\n');
    expect(await fetchText(`http://${NetworkSettings.IPAddress}:9000/`)).toBe('version 1\n');
    expect(await readLogs(socket, id)).toMatch(/version 1 starts[^]*version 1 listens on 9000/);
  });

  it('stops when it is asked to, and is gone when it is removed', async () => {
    const id = await start('twofold-test/web:2');
    await expect.poll(() => readLogs(socket, id)).toContain('listens on 8080');
    const before = Date.now();
    // Podman 4.3 kills at once when neither this call nor the container names a time.
    await callEngine(socket, { method: 'POST', path: `/containers/${id}/stop?t=8` });
    expect(Date.now() - before).toBeLessThan(8000);
    expect(await readLogs(socket, id)).toContain('version 2 stops');
    await callEngine(socket, { method: 'DELETE', path: `/containers/${id}` });
    expect((await callEngine(socket, { path: `/containers/${id}/json` })).status).toBe(404);
  });

  it('finds another by name on a network of its own', async () => {
    await engineJson(socket, {
      method: 'POST',
      path: '/networks/create',
      json: { Name: name, Labels: labels },
    });
    const HostConfig = { NetworkMode: name };
    const NetworkingConfig = { EndpointsConfig: { [name]: { Aliases: ['api'] } } };
    const server = await start('twofold-test/web:2', { HostConfig, NetworkingConfig });
    const address = (await inspect(socket, server)).NetworkSettings.Networks[name]?.IPAddress;
    expect(await fetchText(`http://${address}:8080/`)).toBe('version 2\n');
    const client = await start('twofold-test/web:1', {
      HostConfig,
      Cmd: ['wget', '-q', '-O', '-', 'http://api:8080/'],
    });
    await expect.poll(() => readLogs(socket, client), { timeout: 10_000 }).toContain('version 2');
  });
});
