import { type ChildProcess, spawn } from 'node:child_process';
import { chownSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { run } from '../engines/command.ts';
import { freePort } from '../engines/free-port.ts';
import { databaseAccount, postgresProgram } from '../engines/postgres.ts';

/** A PostgreSQL that a test may kill, promote and copy. */
export class Cluster {
  readonly port: number;
  readonly #data: string;
  #process: ChildProcess | undefined;

  private constructor(data: string, port: number) {
    this.#data = data;
    this.port = port;
  }

  /** Makes and starts an empty one. */
  static async start(settings: readonly string[] = []): Promise<Cluster> {
    const data = dataFolder();
    const access = ['-A', 'trust', '-U', 'postgres', '-E', 'UTF8', '--locale=C.UTF-8'];
    run(postgresProgram('initdb'), ['-D', data, ...access, '--no-sync'], databaseAccount());
    return Cluster.#begin(data, settings);
  }

  /** A standby that follows this one. */
  async standby(settings: readonly string[] = []): Promise<Cluster> {
    const data = dataFolder();
    const from = `host=127.0.0.1 port=${this.port} user=postgres`;
    const copy = ['-d', from, '-D', data, '-X', 'stream', '-c', 'fast', '-R', '--no-sync'];
    run(postgresProgram('pg_basebackup'), copy, databaseAccount());
    return Cluster.#begin(data, settings);
  }

  static async #begin(data: string, settings: readonly string[]): Promise<Cluster> {
    const cluster = new Cluster(data, await freePort());
    writeFileSync(join(data, 'postgresql.auto.conf'), `${SETTINGS}\n${settings.join('\n')}\n`, {
      flag: 'a',
    });
    await cluster.start();
    return cluster;
  }

  get url(): string {
    return `postgres://postgres@127.0.0.1:${this.port}/postgres`;
  }

  async start(): Promise<void> {
    if (this.#isRunning()) return;
    // The memory of a killed one may still be in use for a moment.
    for (;;) {
      const log = openSync(join(this.#data, 'log'), 'a');
      const child = spawn(
        postgresProgram('postgres'),
        ['-D', this.#data, '-p', String(this.port)],
        { stdio: ['ignore', log, log], detached: true, ...databaseAccount() },
      );
      this.#process = child;
      while (child.exitCode === null) {
        if (await this.ask('select 1').then(Boolean, () => false)) return;
        await pause(20);
      }
    }
  }

  #isRunning(): boolean {
    return this.#process?.exitCode === null && this.#process.signalCode === null;
  }

  /** As when the machine fails: all of its processes are gone at once. */
  async kill(): Promise<void> {
    const child = this.#process;
    if (!child?.pid || !this.#isRunning()) return;
    const gone = new Promise((resolve) => child.once('exit', resolve));
    process.kill(-child.pid, 'SIGKILL');
    await gone;
  }

  /** Stops what the processes do without ending them: connections neither answer nor break. */
  freeze(): void {
    process.kill(-this.#process!.pid!, 'SIGSTOP');
  }

  thaw(): void {
    process.kill(-this.#process!.pid!, 'SIGCONT');
  }

  async promote(): Promise<void> {
    await this.ask('select pg_promote(true)');
  }

  async ask(text: string, values: readonly unknown[] = []): Promise<any[]> {
    const client = new pg.Client({ connectionString: this.url, application_name: 'the test' });
    client.on('error', () => {});
    try {
      await client.connect();
      return (await client.query(text, values as unknown[])).rows;
    } finally {
      await client.end().catch(() => {});
    }
  }

  async drop(): Promise<void> {
    await this.kill();
    rmSync(this.#data, { recursive: true, force: true });
  }
}

/** It does not sync: what is written outlives its processes, and nothing has to outlive the machine. */
const SETTINGS = `listen_addresses = '127.0.0.1'
unix_socket_directories = ''
fsync = off
full_page_writes = off
shared_buffers = 16MB
max_wal_size = 64MB
wal_keep_size = 32MB
hot_standby_feedback = off
log_min_messages = fatal`;

function dataFolder(): string {
  const data = mkdtempSync(join(tmpdir(), 'cluster-'));
  const { uid, gid } = databaseAccount();
  if (uid !== undefined) chownSync(data, uid, gid ?? uid);
  return data;
}
