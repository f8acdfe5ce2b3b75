import type { Field, Project } from '@twofold/schema';
import { failure } from '../errors.ts';
import { refusal, type Rules } from '../data/access.ts';
import type { Model } from '../data/model.ts';
import type { Call, Planned, Shape } from '../data/plan.ts';
import { type Member, membersOf, type RestEntity } from './modules.ts';
import type { Query } from './query.ts';

/** What an answer shows, and the calls of the lists in it. */
export interface Shaped {
  readonly shape: Shape;
  readonly calls: Call[];
}

/**
 * The object that a request wants: every field it may read, those that `fields` names, and the relations of `include`.
 *
 * @throws AppError 400 for a name that is not there, 401 or 403 for one that is not the caller's to read.
 */
export function readShape(query: Query, entity: RestEntity, { model, rules, firstCall }: { readonly model: Model; readonly rules: Rules; readonly firstCall: number }): Shaped {
  const calls: Call[] = [];
  const wanted = listOf(query['fields']);
  for (const name of wanted) if (entity.members.get(name)?.column === undefined) throw failure.badRequest(`fields: ${entity.entity.name} has no field ${name}`);
  const columns = columnsOf(entity.members, wanted);
  const fields = columns.flatMap((member) => planColumn(member, entity.entity, rules, wanted.length > 0));
  for (const name of listOf(query['include'])) fields.push(planRelation(name, entity, { model, rules, calls, firstCall }));
  return { shape: { entity: entity.entity.name, fields, row: false }, calls };
}

const listOf = (text: Query[string]): string[] => [text ?? []].flat().flatMap((item) => item.split(',')).map((item) => item.trim()).filter((item) => item !== '');

/** The key is always there. */
function columnsOf(members: ReadonlyMap<string, Member>, wanted: readonly string[]): Member[] {
  return [...members.values()].filter(({ name, column }) => column !== undefined && (wanted.length === 0 || name === 'id' || wanted.includes(name)));
}

/** A field that the caller may not read is left out, unless it was asked for. */
function planColumn({ name, field, column }: Member, entity: Project['entities'][number], rules: Rules, named: boolean): Planned[] {
  const access = rules.field(entity, field, 'READ');
  if (access.kind === 'none') {
    if (named) throw refusal(access.code);
    return [];
  }
  return [{ kind: 'column', key: name, column: column as string, ...(access.kind === 'owner' && { only: access.columns }) }];
}

interface Relating {
  readonly model: Model;
  readonly rules: Rules;
  readonly calls: Call[];
  readonly firstCall: number;
}

function planRelation(name: string, { entity, members }: RestEntity, relating: Relating): Planned {
  const member = members.get(name);
  if (!member || member.column !== undefined) throw failure.badRequest(`include: ${entity.name} has no relation ${name}`);
  const { field } = member;
  const access = relating.rules.field(entity, field, 'READ');
  if (access.kind === 'none') throw refusal(access.code);
  return { ...planTarget(field, relating), ...(access.kind === 'owner' && { only: access.columns }) } as Planned;
}

function planTarget(field: Field, { model, rules, calls, firstCall }: Relating): Planned {
  const { source, name } = field;
  if ((source.kind !== 'one' && source.kind !== 'many') || (source.kind === 'one' && source.typeColumn !== undefined)) throw failure.badRequest(`include: ${name} cannot be embedded`);
  const other = model.entity(source.entity);
  const target = rules.entity(other.entity, 'READ');
  if (target.kind === 'none') throw refusal(target.code);
  const fields = columnsOf(membersOf(other), []).flatMap((member) => planColumn(member, other.entity, rules, false));
  const shape: Shape = { entity: source.entity, fields, row: false };
  if (source.kind === 'one') return { kind: 'one', key: name, required: false, link: { key: source.key, column: source.column }, shape };
  const { paging, order } = source.list;
  const call = firstCall + calls.push({ equals: [], order: [...order.filter(({ column }) => column !== 'id'), { column: 'id', descending: order.some(({ column, descending }) => column === 'id' && descending) }], page: { limit: paging.default, offset: 0, backwards: false } }) - 1;
  return { kind: 'many', key: name, entity: source.entity, link: source.via, list: { filters: [], paging, order }, call, shape };
}
