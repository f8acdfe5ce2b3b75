import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createUsageReader } from '../../runtime/hosting/engine/cgroup.ts';
import { createKernelFiles } from '../../runtime/hosting/engine/kernel-files.ts';
import { describeEachEngine } from '../engines/available.ts';
import { engineJson } from '../engines/call-engine.ts';
import { importImage } from '../engines/import-image.ts';
import { startServer, type TestServer } from './server.ts';

const folder = mkdtempSync(join(tmpdir(), 'tf-usage-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What this process has open below a folder. */
const openBelow = (root: string) =>
  readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      const path = readlinkSync(`/proc/self/fd/${fd}`);
      return path.startsWith(root) ? [path] : [];
    } catch {
      return []; // The listing's own.
    }
  });

describe('a file of the kernel', () => {
  it('is read anew each time, whole, however long it is', () => {
    const file = createKernelFiles()(join(folder, 'long'));
    for (const text of ['short\n', 'x'.repeat(100_000), '', 'y'.repeat(2048)]) {
      writeFileSync(join(folder, 'long'), text);
      expect(file.read()).toBe(text);
    }
    expect(createKernelFiles()('/proc/self/status').read()).toContain(`\nPid:\t${process.pid}\n`);
    const mounts = createKernelFiles()('/proc/self/mountinfo');
    expect(mounts.read()).toBe(mounts.read());
    file.close();
  });

  it('stays open only while it is used, and never more than are allowed', async () => {
    const own = join(folder, 'kept');
    mkdirSync(own);
    const open = createKernelFiles({ most: 2, idle: 20 });
    const files = ['a', 'b', 'c'].map(
      (name) => (writeFileSync(join(own, name), name), open(join(own, name))),
    );
    expect(files.map((file) => file.read())).toEqual(['a', 'b', 'c']);
    expect(
      openBelow(own)
        .map((path) => path.slice(-1))
        .sort(),
    ).toEqual(['a', 'b']);
    files[0]!.close();
    files[0]!.close();
    expect(openBelow(own)).toEqual([join(own, 'b')]);
    await expect.poll(() => openBelow(own), { timeout: 5000 }).toEqual([]);
    expect(files.map((file) => file.read())).toEqual(['a', 'b', 'c']);
    for (const file of files) file.close();
    expect(openBelow(own)).toEqual([]);
    expect(() => open(join(own, 'none')).read()).toThrow('ENOENT');
  });
});

describe('what a container uses', () => {
  const [proc, cgroup] = [join(folder, 'proc'), join(folder, 'cgroup')];
  const id = 'c0ffee'.repeat(10);
  const put = (path: string, text: string) => (
    mkdirSync(dirname(path), { recursive: true }),
    writeFileSync(path, text)
  );
  /** Another process of the same id has another folder. */
  const process = (
    pid: number,
    { bytes, path = `/app/${id}`, version = 2 }: { bytes: number; path?: string; version?: 1 | 2 },
  ) => {
    put(
      join(proc, `new/net/dev`),
      `Inter-|   Receive    |  Transmit\n face |bytes packets\n    lo:  999 9 0 0 0 0 0 0  999 9 0 0 0 0 0 0\n  eth0:${bytes}    1 0 0 0 0 0 0      ${2 * bytes} 1 0 0 0 0 0 0\n`,
    );
    put(
      join(proc, 'new/cgroup'),
      version === 2
        ? `0::${path}\n`
        : ['pids', 'memory', 'cpu,cpuacct']
            .map((name, index) => `${index + 1}:${name}:${path}\n`)
            .join(''),
    );
    rmSync(join(proc, 'gone'), { recursive: true, force: true });
    try {
      renameSync(join(proc, String(pid)), join(proc, 'gone'));
    } catch {
      // There was none.
    }
    renameSync(join(proc, 'new'), join(proc, String(pid)));
  };
  const unified = (name: string, files: Record<string, string>) =>
    Object.entries(files).forEach(([file, text]) => put(join(cgroup, 'app', name, file), text));

  it('is read on either version of cgroups, without the cache that can be dropped', async () => {
    unified(id, {
      'cpu.stat': 'usage_usec 1500\nuser_usec 1000\n',
      'memory.current': '5000\n',
      'memory.stat': 'anon 1\ninactive_file 1000\nactive_file 7\n',
      'memory.max': '8000\n',
      'pids.current': '3\n',
    });
    process(7, { bytes: 10 });
    const expected = {
      cpu: 1_500_000,
      memory: 4000,
      memoryLimit: 8000,
      pids: 3,
      networkIn: 10,
      networkOut: 20,
    };
    const read = async (pid: number) => {
      const usage = createUsageReader(async () => pid, { proc, cgroup });
      return usage.read(id).finally(() => usage.forget(id));
    };
    expect(await read(7)).toEqual(expected);
    for (const [controller, files] of Object.entries({
      'cpu,cpuacct': { 'cpuacct.usage': '1500000\n' },
      memory: {
        'memory.usage_in_bytes': '5000\n',
        'memory.limit_in_bytes': '8000\n',
        'memory.stat': 'inactive_file 5\ntotal_inactive_file 1000\n',
      },
      pids: { 'pids.current': '3\n' },
    }))
      for (const [file, text] of Object.entries(files))
        put(join(cgroup, controller, 'app', id, file), text);
    process(8, { bytes: 10, version: 1 });
    expect(await read(8)).toEqual(expected);
    put(join(cgroup, 'app', id, 'memory.max'), 'max\n');
    expect(await read(7)).toEqual({ ...expected, memoryLimit: 0 });
  });

  it('is asked of the engine once, and again only for another process', async () => {
    let asked = 0;
    let pid: number | null = 20;
    const usage = createUsageReader(async () => ((asked += 1), pid), { proc, cgroup });
    process(20, { bytes: 1 });
    expect([(await usage.read(id))?.networkIn, (await usage.read(id))?.networkIn, asked]).toEqual([
      1, 1, 1,
    ]);
    // Started again under another id, and then under the same one.
    process(21, { bytes: 2 });
    rmSync(join(proc, '20'), { recursive: true });
    pid = 21;
    expect([(await usage.read(id))?.networkIn, asked]).toEqual([2, 2]);
    process(21, { bytes: 3 });
    expect([(await usage.read(id))?.networkIn, asked]).toEqual([3, 3]);
    // The id is a stranger's now.
    process(21, { bytes: 4, path: '/app/another' });
    expect([await usage.read(id), asked]).toEqual([null, 4]);
    pid = null;
    expect(await usage.read(id)).toBeNull();
    expect(openBelow(folder)).toEqual([]);
  });

  it('is let go of when the container has ended', async () => {
    const usage = createUsageReader(async () => 30, { proc, cgroup });
    process(30, { bytes: 1 });
    await usage.read(id);
    expect(openBelow(folder).length).toBe(5);
    usage.forget(id);
    expect(openBelow(folder)).toEqual([]);
    await Promise.all([usage.read(id), usage.read(id), usage.read(id)]);
    usage.forget(id);
    usage.forget('never seen');
  });
});

describeEachEngine('the stats of an app', ({ kind, socket }) => {
  let server: TestServer;
  let image: string;
  beforeAll(async () => {
    image = await importImage(socket, 'twofold-test/web:1');
    server = await startServer({ socket });
  });
  afterAll(() => server?.end());

  interface Told {
    readonly cpu_stats: { readonly cpu_usage: { readonly total_usage: number } };
    readonly memory_stats: { readonly usage: number };
    readonly networks?: Record<string, { rx_bytes: number; tx_bytes: number }>;
    readonly network?: Told['networks'];
  }
  const replica = async (name: string) =>
    (await server.api('GET', `/api/apps/${name}/stats`)).body.replicas[0];
  const byEngine = async (container: string) => {
    const told = await engineJson<Told>(socket, {
      path: `/containers/${container}/stats?stream=false`,
    });
    const { Version } = await engineJson<{ Version: string }>(socket, { path: '/version' });
    const [network] = Object.values((told.networks ?? told.network)!);
    const [received, sent] = [network!.rx_bytes, network!.tx_bytes];
    // Podman before 4.4 says what came in of what went out.
    const swapped = kind === 'podman' && /^4\.[0-3]\./.test(Version);
    return {
      cpu: told.cpu_stats.cpu_usage.total_usage / 1e9,
      memory: told.memory_stats.usage,
      received: swapped ? sent : received,
      sent: swapped ? received : sent,
    };
  };
  /** The engine is asked between two looks of ours: its figures lie between them. */
  const compared = async () => {
    const before = await replica('figures');
    if (!before) return null;
    const told = await byEngine(before.container);
    const after = await replica('figures');
    const between = (field: string, theirs: number) =>
      before[field] <= theirs && theirs <= after[field];
    return {
      cpu: between('cpu_seconds', told.cpu),
      received: between('network_in_bytes', told.received),
      sent: between('network_out_bytes', told.sent),
      memory: before.memory_bytes > 10_000 && before.memory_bytes <= told.memory + 1_000_000,
    };
  };
  const AGREED = { cpu: true, received: true, sent: true, memory: true };

  it('are what the engine says, also after it was started again', async () => {
    await server.api('DELETE', '/api/apps/figures');
    const page = 'head -c 2000000 /dev/zero > /www/big; ';
    await server.api('POST', '/api/apps', {
      name: 'figures',
      image,
      command: ['sh', '-c', `${page} exec httpd -f -p $PORT -h /www`],
    });
    for (let turn = 0; turn < 3; turn += 1)
      expect((await server.visit('figures.apps.test', '/big')).text.length).toBe(2_000_000);
    const first = await replica('figures');
    expect(first.network_out_bytes).toBeGreaterThan(6_000_000);
    expect(await compared()).toEqual(AGREED);

    expect((await server.api('POST', '/api/apps/figures/restart')).status).toBe(200);
    const again = await replica('figures');
    expect(again.container).toBe(first.container);
    expect(again.network_out_bytes).toBeLessThan(1_000_000);
    expect(await compared()).toEqual(AGREED);
    expect((await server.visit('figures.apps.test', '/big')).text.length).toBe(2_000_000);
    expect((await replica('figures')).network_out_bytes).toBeGreaterThan(2_000_000);

    // Not by us, so that nobody has said that it ended.
    await engineJson(socket, { method: 'POST', path: `/containers/${first.container}/kill` });
    await expect
      .poll(async () => (await server.api('GET', '/api/apps/figures')).body.restarts, {
        timeout: 30_000,
      })
      .toBe(1);
    await expect.poll(compared, { timeout: 30_000 }).toEqual(AGREED);
  });
});
