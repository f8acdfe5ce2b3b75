import { type Action, type Entity, type Field, type ListOptions, type Operation, type Project, projectRoutes } from '@twofold/schema';

/** What `explain` says of one field or type. */
export interface Explanation {
  readonly coordinate: string;
  /** What it is: `entity`, `column`, `relation to one`, `list`, … */
  readonly what: string;
  /** The rule or directive that decided. */
  readonly decidedBy: string;
  /** The table, column or join that holds it. */
  readonly stored?: string;
  /** The statement that serves it, as the planner makes it for this field alone; values as `:names`. */
  readonly statement?: string;
  /** REST endpoints that serve it. */
  readonly routes?: readonly string[];
}

/** Every type and field of the model, explained. */
export function explainAll(project: Project): Explanation[] {
  return [
    ...project.entities.flatMap((entity) => [explainEntity(entity, project), ...entity.fields.map((field) => explainField(entity, field, project))]),
    ...project.objects.filter(({ role }) => role !== 'root').map(({ name, role }) => ({ coordinate: name, what: OBJECTS[role], decidedBy: 'its shape' })),
    ...project.operations.map((operation) => explainOperation(operation, project)),
  ];
}

const OBJECTS = { value: 'value: stored as JSON where a field has it', payload: 'payload of a mutation', connection: 'connection', edge: 'edge of a connection', pageInfo: 'page info', root: 'root' } as const;

function explainEntity({ name, table, plural }: Entity, project: Project): Explanation {
  const routes = projectRoutes(project).filter(({ path }) => path === restPath(plural) || path.startsWith(`${restPath(plural)}/`));
  return { coordinate: name, what: 'entity', decidedBy: 'it has id: ID!', stored: `table ${table}`, ...(routes.length > 0 && { routes: routes.map(({ method, path }) => `${method} ${path}`) }) };
}

function restPath(plural: string): string {
  return `/api/${plural.replace(/([a-z0-9])([A-Z])/g, '$1-$2').replaceAll('_', '-').toLowerCase()}`;
}

function explainField(entity: Entity, field: Field, project: Project): Explanation {
  const { source, decidedBy } = field;
  const base = { coordinate: `${entity.name}.${field.name}`, decidedBy };
  const tableOf = (name: string) => project.entities.find((each) => each.name === name)?.table ?? name;
  switch (source.kind) {
    case 'column':
      return { ...base, what: 'column', stored: `${entity.table}.${source.column}`, statement: `select ${source.column} from ${entity.table}` };
    case 'one': {
      const [own, other] = source.key === 'own' ? [source.column, 'id'] : ['id', source.column];
      const stored = source.key === 'own' ? `${entity.table}.${source.column}` : `${tableOf(source.entity)}.${source.column}`;
      return { ...base, what: 'relation to one', stored, statement: `select … from ${tableOf(source.entity)} where ${other} = ${entity.table}.${own}` };
    }
    case 'many': {
      const { via } = source;
      const stored = via.kind === 'table' ? `join table ${via.table} (${via.own}, ${via.other})` : `${tableOf(source.entity)}.${via.column}`;
      const where = via.kind === 'table' ? `id in (select ${via.other} from ${via.table} where ${via.own} = ${entity.table}.id)` : `${via.column} = ${entity.table}.id`;
      return { ...base, what: 'relation to many', stored, statement: `select … from ${tableOf(source.entity)} where ${where}${listClauses(source.list)}` };
    }
    case 'custom':
      return { ...base, what: 'yours: a function in src/resolvers answers it' };
  }
}

function explainOperation(operation: Operation, project: Project): Explanation {
  const root = operation.root.charAt(0).toUpperCase() + operation.root.slice(1);
  const tableOf = (name: string) => project.entities.find((each) => each.name === name)?.table ?? name;
  return { coordinate: `${root}.${operation.name}`, decidedBy: operation.decidedBy, ...describeAction(operation.action, tableOf) };
}

function describeAction(action: Action, tableOf: (entity: string) => string): Pick<Explanation, 'what' | 'statement'> {
  switch (action.kind) {
    case 'get':
      return { what: 'one row', statement: `select … from ${tableOf(action.entity)} where ${action.by.map(({ arg, column }) => `${column} = :${arg}`).join(' and ')}` };
    case 'list':
      return { what: action.list.connection ? 'connection' : 'list', statement: `select … from ${tableOf(action.entity)}${filterClauses(action.list)}${listClauses(action.list)}` };
    case 'listAbstract':
      return { what: `list over every member of ${action.type}` };
    case 'node':
      return { what: 'any entity by its global id' };
    case 'create':
      return { what: 'insert', statement: `insert into ${tableOf(action.entity)} (…) values (…) returning …` };
    case 'update':
      return { what: 'update', statement: `update ${tableOf(action.entity)} set … where id = :${action.id.join('.')} returning …` };
    case 'remove':
      return { what: 'delete', statement: `delete from ${tableOf(action.entity)} where id = :${action.id.join('.')} returning …` };
    case 'subscribe':
      return { what: `${action.on.join(', ')} ${action.entity}, as it happens` };
    case 'custom':
      return { what: 'yours: a function in src/resolvers answers it' };
  }
}

function filterClauses({ filters, where }: ListOptions): string {
  const parts = [...filters.map(({ arg, column }) => `${column} = :${arg}`), ...(where ? [`:${where.arg}`] : [])];
  return parts.length > 0 ? ` where ${parts.join(' and ')}` : '';
}

function listClauses({ order, orderBy, paging }: ListOptions): string {
  const by = orderBy ? `:${orderBy.arg}, ` : '';
  return ` order by ${by}${order.map(({ column, descending }) => `${column}${descending ? ' desc' : ''}`).join(', ')} limit ${paging.limit || paging.first ? `:${paging.limit ?? paging.first} (at most ${paging.max})` : paging.max}`;
}
