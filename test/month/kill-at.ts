/**
 * Loaded before a program with `NODE_OPTIONS=--import`: ends its process as a power cut does, before
 * or after the statement that `KILL_AT` matches, or while the database works on it.
 */
import { DatabaseSync, StatementSync } from 'node:sqlite';
import pg from 'pg';

const at = new RegExp(process.env['KILL_AT'] ?? '^never$', 'i');
/** A statement that has to come before. */
const since = new RegExp(process.env['KILL_SINCE'] ?? '', 'i');
let armed = false;

function matches(text: string): boolean {
  armed ||= since.test(text);
  return armed && at.test(text);
}

const when = process.env['KILL_WHEN'];
const die = () => process.kill(process.pid, 'SIGKILL');

const { query } = pg.Client.prototype;
pg.Client.prototype.query = function (this: pg.Client, ...words: any[]) {
  const [first] = words as [string | { readonly text?: string }];
  const hit = matches((typeof first === 'string' ? first : first.text) ?? '');
  if (hit && when === 'before') die();
  const answer = (query as (...words: any[]) => unknown).apply(this, words);
  // The statement is on its way when the loop turns, and its answer is not there yet.
  if (hit && when === 'during') setImmediate(die);
  if (hit && when === 'after') void (answer as Promise<unknown>).then(die);
  return answer;
} as typeof query;

const { exec, prepare } = DatabaseSync.prototype;
const { all, run } = StatementSync.prototype;
const texts = new WeakMap<StatementSync, string>();

function around<T>(text: string, does: () => T): T {
  const hit = matches(text);
  if (hit && when === 'before') die();
  const answer = does();
  if (hit) die();
  return answer;
}

DatabaseSync.prototype.exec = function (text) {
  return around(text, () => exec.call(this, text));
};
DatabaseSync.prototype.prepare = function (text, ...more) {
  const statement = prepare.call(this, text, ...more);
  texts.set(statement, text);
  return statement;
};
StatementSync.prototype.run = function (this: StatementSync, ...values: any[]) {
  return around(texts.get(this) ?? '', () => (run as any).apply(this, values));
} as typeof run;
StatementSync.prototype.all = function (this: StatementSync, ...values: any[]) {
  return around(texts.get(this) ?? '', () => (all as any).apply(this, values));
} as typeof all;
