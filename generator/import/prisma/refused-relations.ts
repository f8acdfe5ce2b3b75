import type { ReportItem } from '../imported.ts';
import type { PrismaField, PrismaModel } from './prisma-schema.ts';
import {
  keyFields,
  objectOf,
  ownColumns,
  referencesOf,
  relationName,
  type Source,
} from './source.ts';

/** A relation that no field can show, with the field at its other end. */
interface Refused {
  readonly fields: readonly PrismaField[];
  readonly item: ReportItem;
}

/**
 * Takes relations out of the models that have no field in a schema; their columns become fields. Of
 * a relation to a key and more, as `(ruleId, accountId)` to `(id, accountId)`, the key stays, which
 * says it all.
 */
export function withoutRefused(source: Source): {
  readonly source: Source;
  readonly items: readonly ReportItem[];
} {
  const short = new Map(
    [...source.models].map(([name, model]) => [name, shortened(model, source)]),
  );
  const known = { ...source, models: short };
  const refused = [...short.values()].flatMap((model) => refusedOf(model, known));
  const gone = new Set(refused.flatMap(({ fields }) => fields));
  const models = new Map(
    [...short].map(([name, model]) => [
      name,
      { ...model, fields: model.fields.filter((field) => !gone.has(field)) },
    ]),
  );
  return { source: { ...known, models }, items: refused.map(({ item }) => item) };
}

function shortened(model: PrismaModel, { models }: Source): PrismaModel {
  const fields = model.fields.map((field) => {
    const target = models.get(field.type);
    const [key = '', more] = target ? keyFields(target) : [];
    const at = referencesOf(field).indexOf(key);
    if (more !== undefined || at === -1 || ownColumns(field).length < 2) return field;
    const only = { fields: ownColumns(field)[at]!, references: key };
    return { ...field, attributes: field.attributes.map((each) => withArguments(each, only)) };
  });
  return { ...model, fields };
}

const withArguments = (
  { name, args }: PrismaField['attributes'][number],
  only: Readonly<Record<string, string>>,
) => ({
  name,
  args: args.map((each) => {
    const word = name === 'relation' ? only[each.name ?? ''] : undefined;
    if (word === undefined) return each;
    return {
      ...each,
      value: { kind: 'list' as const, values: [{ kind: 'word' as const, text: word }] },
    };
  }),
});

function refusedOf(model: PrismaModel, source: Source): Refused[] {
  return model.fields.flatMap((field) => {
    const target = source.models.get(field.type);
    const columns = ownColumns(field);
    const why = target && columns.length > 1 ? reason(field, model, target) : undefined;
    if (!target || why === undefined) return [];
    const object = `${objectOf(model, source)}(${columns.join(', ')})`;
    return [
      {
        fields: [field, ...otherEnds(field, model, target)],
        item: { object, kind: 'foreign key', status: 'notExpressible', why },
      },
    ];
  });
}

function reason(field: PrismaField, model: PrismaModel, target: PrismaModel): string | undefined {
  const columns = ownColumns(field);
  if ([...referencesOf(field)].sort().join() !== [...keyFields(target)].sort().join())
    return 'it leads to several columns that are not the key';
  const key = keyFields(model);
  const inKey = columns.filter((name) => key.includes(name));
  const isShared = model.fields.some(
    (each) => each !== field && ownColumns(each).some((name) => inKey.includes(name)),
  );
  return isShared || (inKey.length > 0 && inKey.length < columns.length)
    ? 'its columns are a part of the key of the table'
    : undefined;
}

const otherEnds = (field: PrismaField, { name }: PrismaModel, { fields }: PrismaModel) =>
  fields.filter(
    (each) =>
      each.type === name &&
      relationName(each) === relationName(field) &&
      ownColumns(each).length === 0,
  );
