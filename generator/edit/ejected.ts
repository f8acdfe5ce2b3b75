import type { Entity, Field, Operation, Project } from '@twofold/schema';
import { code, type Code } from '../../templates/code.ts';
import { propertyName, str } from '../../templates/literal.ts';

/** What is inferred for a field, written out as a function of the user's; null when there is nothing to write out. */
export function ejectedMember(coordinate: string, project: Project): string | null {
  const [type = '', name = ''] = coordinate.split('.');
  const entity = project.entities.find((each) => each.name === type);
  const field = entity?.fields.find((each) => each.name === name);
  if (entity && field) return fieldMember(entity, field, project).text;
  const operation = project.operations.find((each) => each.name === name && rootOf(each) === type);
  return operation ? operationMember(operation, project).text : null;
}

function rootOf({ root }: Operation): string {
  return root.charAt(0).toUpperCase() + root.slice(1);
}

function fieldMember(entity: Entity, { name, source, type }: Field, project: Project): Code {
  switch (source.kind) {
    case 'column':
      return code`${propertyName(name)}: (parent) => parent${access(name)}`;
    case 'one': {
      const loader = project.loaders.find((each) => each.entity === source.entity && !each.many && each.by === (source.key === 'own' ? 'id' : source.column));
      if (!loader || source.key !== 'own') return notImplemented(`${entity.name}.${name}`, name);
      const [key, load] = [`parent${access(source.column)}`, `ctx.loaders${access(loader.name)}.load`];
      return type.required
        ? code`${propertyName(name)}: async (parent, _args, ctx) => (await ${load}(${key}))!`
        : code`${propertyName(name)}: (parent, _args, ctx) => (${key} == null ? null : ${load}(${key}))`;
    }
    case 'many': {
      const by = source.via.kind === 'column' ? source.via.column : source.via.own;
      const loader = project.loaders.find((each) => each.entity === source.entity && each.many && (each.by === by || each.via?.own === by));
      return loader ? code`${propertyName(name)}: (parent, _args, ctx) => ctx.loaders${access(loader.name)}.load(parent.id)` : notImplemented(`${entity.name}.${name}`, name);
    }
    case 'custom':
      return notImplemented(`${entity.name}.${name}`, name);
  }
}

function operationMember({ name, action, root }: Operation, project: Project): Code {
  const entity = 'entity' in action ? project.entities.find((each) => each.name === action.entity) : undefined;
  const key = project.ids === 'integer' ? 'Number' : 'String';
  if (entity && action.kind === 'get') {
    const where = action.by.map(({ arg, column }) => code`.where(${str(column)}, '=', ${column === 'id' ? `${key}(args${access(arg)})` : `args${access(arg)}`})`);
    return code`
      ${propertyName(name)}: async (_parent, args, ctx) => {
        const row = await ctx.db.selectFrom(${str(entity.table)}).select(${columns(entity)})${where.map((each) => each.text).join('')}.executeTakeFirst();
        return row ?? null;
      }
    `;
  }
  if (entity && action.kind === 'list' && !action.list.connection) {
    const { limit, offset, first } = action.list.paging;
    const size = limit ?? first;
    return code`
      ${propertyName(name)}: async (_parent, ${size || offset || action.list.filters.length > 0 ? 'args' : '_args'}, ctx) => {
        let query = ctx.db.selectFrom(${str(entity.table)}).select(${columns(entity)}).orderBy('id');
        ${action.list.filters.map(({ arg, column }) => code`if (args${access(arg)} != null) query = query.where(${str(column)}, '=', args${access(arg)});`)}
        ${offset && code`query = query.offset(args${access(offset)} ?? 0);`}
        return query.limit(${size ? `Math.min(args${access(size)} ?? ${action.list.paging.default}, ${action.list.paging.max})` : String(action.list.paging.max)}).execute();
      }
    `;
  }
  return notImplemented(`${root.charAt(0).toUpperCase()}${root.slice(1)}.${name}`, name);
}

/** Columns under the names that the schema gives them. */
function columns(entity: Entity): string {
  const names = entity.columns.map(({ name, field }) => str(field === undefined || field === name ? name : `${name} as ${field}`));
  return `[${names.join(', ')}]`;
}

function notImplemented(coordinate: string, name: string): Code {
  return code`
    ${propertyName(name)}: () => {
      throw new Error(${str(`${coordinate} is not written yet`)});
    }
  `;
}

function access(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? `.${name}` : `[${str(name)}]`;
}
