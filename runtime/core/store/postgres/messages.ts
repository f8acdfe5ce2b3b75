import { EventEmitter } from 'node:events';
import type { Logger } from '../../config/log.ts';
import type { Hear, Session } from './session.ts';

const TABLE = `create table if not exists twofold_messages (
  xid bigint not null default txid_current(),
  id bigint generated always as identity,
  at timestamptz not null default clock_timestamp(),
  channel text not null,
  payload text not null,
  primary key (xid, id)
)`;

const KEEP = `insert into twofold_messages (channel, payload)
  select $1, part from unnest($2::text[]) with ordinality as parts (part, place) order by place`;

/** The messages of all transactions that had not ended at the last look, and until when that was. */
const LOOK = `select until, xid, id, channel, payload
  from (select txid_snapshot_xmin(txid_current_snapshot()) as until) as seen
    left join twofold_messages on xid >= $1 order by id`;

const FORGET = `delete from twofold_messages where at < clock_timestamp() - interval '5 minutes'`;

const LOOK_EVERY = 1_000;
const FORGET_EVERY = 60_000;

interface Found {
  readonly until: number;
  readonly xid: number | null;
  readonly id: number;
  readonly channel: string;
  readonly payload: string;
}

/**
 * Messages between servers as rows, for a pooler, behind which nobody can listen: each server looks
 * once a second. Transactions end in another order than they begin, so a look begins at the oldest
 * one that had not ended at the look before, and leaves out the rows that it has seen.
 */
export class KeptMessages {
  readonly #session: Session;
  readonly #log: Logger | undefined;
  readonly #heard = new EventEmitter();
  #seen = new Map<number, number>();
  #from = 0;
  #timer: NodeJS.Timeout | undefined;
  #forgot = performance.now();
  #broken = false;

  constructor(session: Session, log: Logger | undefined) {
    this.#session = session;
    this.#log = log;
  }

  async send(channel: string, payloads: readonly string[]): Promise<void> {
    await this.#session.queryWith(TABLE, KEEP, [channel, payloads]);
  }

  async listen(channel: string, hear: Hear): Promise<() => void> {
    if (!this.#timer) {
      await this.#look();
      this.#lookLater();
    }
    this.#heard.on(channel, hear);
    return () => void this.#heard.off(channel, hear);
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #lookLater(): void {
    this.#timer = setTimeout(() => void this.#turn(), LOOK_EVERY).unref();
  }

  async #turn(): Promise<void> {
    try {
      await this.#look();
      if (performance.now() - this.#forgot > FORGET_EVERY) {
        this.#forgot = performance.now();
        await this.#session.query(FORGET);
      }
      this.#broken = false;
    } catch (error) {
      if (!this.#broken)
        this.#log?.warn(
          { error: String(error) },
          'what other servers send is not seen: looking on',
        );
      this.#broken = true;
    }
    if (this.#timer) this.#lookLater();
  }

  async #look(): Promise<void> {
    const rows: Found[] = await this.#session.queryWith(TABLE, LOOK, [this.#from]);
    const seen = new Map<number, number>();
    for (const { until, xid, id, channel, payload } of rows) {
      this.#from = Number(until);
      if (xid === null) continue;
      if (!this.#seen.has(id)) this.#heard.emit(channel, payload);
      if (Number(xid) >= this.#from) seen.set(id, Number(xid));
    }
    this.#seen = seen;
  }
}
