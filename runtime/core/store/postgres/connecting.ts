import type { ConnectionOptions } from 'node:tls';
import type { Place } from '@twofold/schema';
import type pg from 'pg';
import type { Logger } from '../../config/log.ts';
import { READ_ONLY, refusesWrites } from '../unreachable.ts';
import { addressOf, driverOptions, encryptionOf } from './address.ts';
import { quotedName } from '../tables/quoting.ts';
import { type PasswordCommand, passwordFrom } from './password-command.ts';
import { type TellingWire, wireTo } from './search-path.ts';
import { driver, isOpen, type Wire, wireClass, type WireClass } from './wire.ts';

/** What the types of the driver leave out of a client. */
interface Attempted {
  readonly connection: Wire;
  readonly sslNegotiation: string;
  _ended: boolean;
}

/** PostgreSQL's code of a transaction that was idle for longer than its limit. */
const IDLE_TOO_LONG = '25P03';

/** What another host of the same address would answer as well: a wrong password, rule or name. */
const SAME_ELSEWHERE: ReadonlySet<unknown> = new Set(['28P01', '28000', '3D000']);

export interface ReachOptions {
  readonly application?: string | undefined;
  /** Whether also a server will do that takes no writes. */
  readonly readOnly?: boolean | undefined;
  readonly log?: Logger | undefined;
}

/** A client that knows whether the server that it is connected to has stopped to take writes. */
export interface ReachingClient extends pg.Client {
  readonly isStale: boolean;
  /** What PostgreSQL said when it ended an idle transaction. */
  readonly fatal: unknown;
  /** Makes names those of the schema of the address, whoever has the connection of a pooler next. */
  enterSchema(isPooled: boolean): Promise<void>;
}

/** How the connections of an address are made, and what they have found. */
interface Target {
  readonly places: readonly Place[];
  readonly offered: ConnectionOptions | false;
  readonly command: PasswordCommand | undefined;
  readonly readOnly: boolean;
  readonly Connection: WireClass;
  /** The place that was right the last time. */
  right: number;
  /** Changes when a server has stopped to take writes. */
  era: number;
}

type Taken = (error: any, client?: any) => void;

/**
 * The driver's client for an address: it tries the hosts one after the other, beginning with the
 * one that was right the last time, until one takes writes.
 *
 * @throws ConfigError when the address is wrong.
 * @example const client = new (clientOf('postgres://db1,db2/shop'))();
 */
export function clientOf(
  url: string,
  { application, readOnly = false, log }: ReachOptions = {},
): new (config?: pg.ClientConfig) => ReachingClient {
  const address = addressOf(url);
  const { places, password, passwordCommand } = address;
  const encryption = encryptionOf(address);
  const offered = encryption && { ...encryption, open: address.mode === 'prefer' };
  const command = passwordCommand === undefined ? undefined : passwordFrom(passwordCommand, log);
  const fallback = { ...(application !== undefined && { fallback_application_name: application }) };
  const made = { ...driverOptions(address), ...fallback, ...places[0], password, ssl: offered };
  const { schema } = address;
  const Connection = schema === undefined ? wireClass() : wireTo(schema, wireClass());
  const target: Target = { places, offered, command, readOnly, Connection, right: 0, era: 0 };
  return class extends driver().Client {
    era = target.era;
    fatal: unknown;

    constructor(config: pg.ClientConfig = {}) {
      super({ ...config, ...made });
      // A broken connection fails what runs on it; without a listener, it would end the process.
      this.on('error', (error: unknown) => {
        if (codeOf(error) === IDLE_TOO_LONG) this.fatal = error;
      });
    }

    get isStale(): boolean {
      return this.era !== target.era;
    }

    async enterSchema(isPooled: boolean): Promise<void> {
      if (schema === undefined) return;
      if (!isPooled) return void (await this.query(`set search_path to ${quotedName(schema)}`));
      (this.connection as unknown as TellingWire).tells = true;
    }

    override connect(): Promise<pg.Client>;
    override connect(taken: Taken): void;
    override connect(taken?: Taken): Promise<pg.Client> | void {
      const reached = reach(this, target, () => super.connect()).then(() => this);
      if (!taken) return reached;
      reached.then((client) => taken(null, client), taken);
    }
  };
}

type Connect = () => Promise<unknown>;

async function reach(client: ReachingClient, target: Target, connect: Connect): Promise<void> {
  const { places, right, readOnly } = target;
  let failure: unknown;
  for (const tried of places.keys()) {
    const at = (right + tried) % places.length;
    const open = (encrypted: boolean) => {
      begin(client, target, { ...places[at]!, ssl: encrypted && target.offered });
      return connect();
    };
    try {
      await enter(client, target, open);
      if (places.length > 1 && !readOnly) await assertWrites(client);
      target.right = at;
      return;
    } catch (error) {
      giveUp(client);
      if (SAME_ELSEWHERE.has(codeOf(error))) throw error;
      failure = codeOf(failure) === READ_ONLY ? failure : error;
    }
  }
  throw failure;
}

/** Connects to one place, again where the password was changed meanwhile. */
async function enter(
  client: pg.Client,
  { offered, command }: Target,
  open: (encrypted: boolean) => Promise<unknown>,
): Promise<void> {
  for (const since = performance.now(); ;) {
    try {
      await open(true).catch((error: unknown) => {
        if (!isOpen(offered) || !isOfEncryption(error)) throw error;
        return open(false);
      });
      return command?.accepted();
    } catch (error) {
      const isWrong = codeOf(error) === '28P01';
      if (!isWrong || !(await command?.refused(client.password, since))) throw error;
    }
  }
}

/** Makes the client as it was before its first attempt to connect. */
function begin(
  client: ReachingClient,
  target: Target,
  attempt: Place & { readonly ssl: ConnectionOptions | false },
): void {
  const { command, readOnly, era } = target;
  giveUp(client);
  // A Unix socket is never encrypted.
  const ssl = !attempt.host.startsWith('/') && attempt.ssl;
  const connection = new target.Connection({
    ssl,
    sslNegotiation: (client as unknown as Attempted).sslNegotiation,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
  });
  connection.on('errorMessage', (error: unknown) => {
    if (!readOnly && era === target.era && codeOf(error) === READ_ONLY) target.era += 1;
  });
  Object.assign(client, {
    ...attempt,
    ssl,
    connection,
    era,
    _connected: false,
    _connecting: false,
    _connectionError: false,
    _ended: false,
    ...(command && { password: () => command.current() }),
  });
}

const codeOf = (error: unknown) => (error as { readonly code?: unknown } | undefined)?.code;

/** Whether a server may let in without encryption who was refused with it. */
const isOfEncryption = (error: unknown) =>
  codeOf(error) === '28000' || /^(ERR_SSL|ERR_TLS|EPROTO)/.test(String(codeOf(error)));

async function assertWrites(client: pg.Client): Promise<void> {
  const { rows } = await client.query('show transaction_read_only');
  if (rows[0].transaction_read_only === 'off') return;
  throw refusesWrites();
}

/** Ends an attempt, whose end is then not that of the client. */
function giveUp(client: pg.Client): void {
  const attempted = client as unknown as Attempted;
  attempted._ended = true;
  const { connection } = attempted;
  connection.removeAllListeners();
  connection.on('error', () => {});
  connection.stream.destroy();
}
