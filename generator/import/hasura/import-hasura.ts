import { snakeCase } from '@twofold/schema';
import type { Catalog, CatalogTable } from '@twofold/database';
import { keyOf } from '../database/column-type.ts';
import { importedOf, importTables } from '../database/import-database.ts';
import type { TypeInProgress } from '../database/types.ts';
import { directive, type Imported, type ImportedField, type ReportItem } from '../imported.ts';
import { claimOf, type Place } from './condition.ts';
import { type Metadata, type MetadataSource, type MetadataTable, referenceOf } from './metadata.ts';
import { otherParts } from './other-parts.ts';
import { ANONYMOUS, type Grant, type Granted, grantsOf, reconcile } from './permissions.ts';
import {
  followRelationships,
  type Reaches,
  reachOf,
  type Relationships,
  type Tracked,
} from './relationships.ts';
import { fieldRules, typeRules } from './rules.ts';
import { registrable, userType } from './user-type.ts';

/**
 * The sources of an import: the metadata, the database of one of its sources, and the type that
 * signs in.
 */
export interface HasuraSource {
  readonly metadata: Metadata;
  readonly source: MetadataSource;
  readonly catalog: Catalog;
  /** The table whose rows sign in; else it is found by its name. */
  readonly user: string | undefined;
}

/**
 * The schema for the tables that Hasura tracks, with its permissions as rules.
 *
 * @example importHasura({ metadata, source, catalog, user: 'users' }).types[0]?.directives // ['@auth(allow: [API_KEY])', …]
 */
export function importHasura({ metadata, source, catalog, user: named }: HasuraSource): Imported {
  const tracked = trackedOf(source, catalog);
  const relationships = followRelationships(catalog, tracked);
  const importing = importTables(relationships.catalog, wishesOf(relationships, tracked));
  const { reaches, items } = reachOf(relationships, importing);
  const user = userType(importing, named);
  const place: Place = { importing, reaches, user, claims: new Set() };
  const granted = grantsOfAll(tracked, place);
  const rules = { granted, place, made: madeByHand(relationships, catalog) };
  const imported = importedOf(importing);
  return {
    ...imported,
    types: imported.types.map((type) => {
      const found = [...importing.types.values()].find(({ name }) => name === type.name)!;
      return {
        ...type,
        directives: [...typeRules(grantsFor(found, granted)), ...type.directives],
        fields: type.fields.map((field) => guard(field, found, rules)),
      };
    }),
    items: [
      ...[...granted.values()].flatMap((each) => each.items),
      ...claimItems(place.claims),
      ...relationships.items,
      ...items,
      ...missingTables(source, catalog),
      ...otherParts(metadata, source),
      ...roleItems(granted),
      ...imported.items,
    ],
    access: { roles: rolesOf(granted), ...(user && user.name !== 'User' && { user: user.name }) },
  };
}

const tableIn = ({ tables }: Catalog, entry: MetadataTable): CatalogTable | undefined =>
  tables.find((table) => keyOf(table) === keyOf(referenceOf(entry.table)));

function trackedOf({ tables = [] }: MetadataSource, catalog: Catalog): readonly Tracked[] {
  return tables.flatMap((entry) => {
    const table = tableIn(catalog, entry);
    return table ? [{ entry, table }] : [];
  });
}

const missingTables = ({ tables = [] }: MetadataSource, catalog: Catalog): ReportItem[] =>
  tables
    .filter((entry) => !tableIn(catalog, entry))
    .map((entry) => {
      const { schema, name } = referenceOf(entry.table);
      const why = 'it is tracked, and the database has no such table';
      return { object: `${schema}.${name}`, kind: 'table', status: 'notExpressible', why };
    });

/**
 * Names of Hasura where it has names of its own; a table of two keys has permissions of its own.
 */
function wishesOf({ followed }: Relationships, tracked: readonly Tracked[]) {
  const entryOf = (table: CatalogTable) =>
    tracked.find((each) => keyOf(each.table) === keyOf(table))?.entry;
  const named = (own: boolean) =>
    new Map(followed.filter((each) => each.own === own).map(({ key, name }) => [key, name]));
  const [relations, inverses] = [named(true), named(false)];
  return {
    wanted: (table: CatalogTable) => entryOf(table) !== undefined,
    unwanted: 'Hasura does not track it',
    joinsAreTypes: true,
    typeName: (table: CatalogTable) => fit(entryOf(table)?.configuration?.custom_name),
    fieldName: (table: CatalogTable, { name }: { readonly name: string }) => {
      const { column_config: config, custom_column_names: names } =
        entryOf(table)?.configuration ?? {};
      return fit(config?.[name]?.custom_name ?? names?.[name]);
    },
    relationName: (key: Relationships['followed'][number]['key']) => fit(relations.get(key)),
    inverseName: (key: Relationships['followed'][number]['key']) =>
      inverses.has(key) ? fit(inverses.get(key)) : null,
  };
}

/** Undefined for what GraphQL does not allow: such a name would be read as more of the schema. */
const fit = (name: string | undefined): string | undefined =>
  name !== undefined && /^[_A-Za-z]\w*$/.test(name) ? name : undefined;

type GrantedTypes = ReadonlyMap<TypeInProgress, Granted>;

function grantsOfAll(tracked: readonly Tracked[], place: Place): GrantedTypes {
  return new Map(
    tracked.flatMap(({ entry, table }) => {
      const type = place.importing.types.get(keyOf(table));
      return type ? [[type, reconcile(grantsOf(entry, type, place), type)] as const] : [];
    }),
  );
}

const grantsFor = (type: TypeInProgress, granted: GrantedTypes): readonly Grant[] =>
  granted.get(type)?.grants ?? [];

/**
 * The foreign keys that only Hasura knew. The database does not check them, so their rows may not
 * exist.
 */
const madeByHand = ({ followed }: Relationships, catalog: Catalog) => {
  const known = new Set(catalog.tables.flatMap(({ foreignKeys }) => foreignKeys));
  return new Set(followed.map(({ key }) => key).filter((key) => !known.has(key)));
};

interface Rules {
  readonly granted: GrantedTypes;
  readonly place: Place;
  readonly made: ReturnType<typeof madeByHand>;
}

/**
 * Adds the rules of a field. The field becomes nullable when a caller who reads the row may not
 * read the field.
 */
function guard(field: ImportedField, type: TypeInProgress, rules: Rules): ImportedField {
  const { granted, place } = rules;
  const grants = grantsFor(type, granted);
  const isUser = place.user === type;
  const auth = fieldRules({
    field,
    type,
    grants,
    followed: isFollowed(place.reaches, type, field.name),
    hidden: isUser && HIDDEN.test(field.name),
  });
  const presets = grants.flatMap((grant) => grant.presets);
  const isPreset = presets.some((column) => type.columns.get(column) === field.name);
  const open =
    auth.some((each) => each.includes('READ') && each.includes('where:')) ||
    leadsToHidden(field, type, rules) ||
    (isUser && !registrable(field, type));
  const isKey = field.name === 'id' || (type.key ?? []).includes(field.name);
  return {
    ...field,
    type: open && !isKey ? field.type.replace(/!$/, '') : field.type,
    directives: [
      ...field.directives,
      ...(isPreset ? [directive('default', { expr: { raw: 'CALLER' } })] : []),
      ...auth,
    ],
  };
}

/**
 * The names of account columns that the server hides from all but the owner, unless a rule allows
 * more.
 */
const HIDDEN =
  /mail|phone|mobile|login|logon|sign|verif|confirm|valid|lock|able|activ|ban|suspend|delet|remov/i;

const isFollowed = (reaches: Reaches, type: TypeInProgress, field: string): boolean =>
  [...(reaches.get(type)?.values() ?? [])].some((reach) => reach.field === field);

/** Whether a caller may read the row but not the row to which the field refers. */
function leadsToHidden(
  { name }: ImportedField,
  type: TypeInProgress,
  { granted, place, made }: Rules,
): boolean {
  const key = [...type.relations].find(([, field]) => field === name)?.[0];
  const target = key && place.importing.types.get(keyOf(key.table));
  if (!key || !target) return false;
  const readers = grantsFor(type, granted).filter(({ verb }) => verb === 'READ');
  const all = grantsFor(target, granted).filter(
    ({ verb, where }) => verb === 'READ' && where === undefined,
  );
  const sees = ({ role }: Grant) =>
    all.some((each) => each.role === role || each.role === ANONYMOUS);
  return made.has(key) || !readers.every(sees);
}

/** The role of new accounts. No permission names it. */
const NEWCOMER = 'registered';

function rolesOf(granted: GrantedTypes): readonly string[] {
  const named = [...granted.values()].flatMap(({ grants }) => grants.map(({ role }) => role));
  const roles = [...new Set(named)].filter((role) => role !== ANONYMOUS).sort();
  const newcomer = roles.includes(NEWCOMER) ? `_${NEWCOMER}` : NEWCOMER;
  return roles.length === 0 ? [] : [...roles, newcomer];
}

function roleItems(granted: GrantedTypes): ReportItem[] {
  const newcomer = rolesOf(granted).at(-1);
  if (newcomer === undefined) return [];
  const why = 'what a new user gets, without any permission: auth.roles.default in the manifest';
  return [{ object: newcomer, kind: 'role', status: 'approximated', as: 'auth.roles', why }];
}

const claimItems = (claims: ReadonlySet<string>): ReportItem[] =>
  [...claims].map((variable) => ({
    object: variable,
    kind: 'session variable',
    status: 'approximated',
    as: `{ claim: "${claimOf(variable)}" }`,
    why: `src/extend.ts has to give ${snakeCase(claimOf(variable))}: until then no row meets a rule that asks for it`,
  }));
