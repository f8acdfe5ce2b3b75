/** The metadata of Hasura, version 3, as far as an import reads it. */
export interface Metadata {
  readonly sources: readonly MetadataSource[];
  /** Actions, remote schemas and everything else, by key. */
  readonly [other: string]: unknown;
}

export interface MetadataSource {
  readonly name: string;
  readonly kind: string;
  readonly tables?: readonly MetadataTable[];
  readonly functions?: readonly unknown[];
  readonly configuration?: unknown;
  readonly [other: string]: unknown;
}

export interface MetadataTable {
  readonly table: string | TableReference;
  readonly is_enum?: boolean;
  readonly configuration?: TableConfiguration;
  readonly object_relationships?: readonly MetadataRelationship[];
  readonly array_relationships?: readonly MetadataRelationship[];
  readonly [other: string]: unknown;
}

export interface TableReference {
  readonly schema?: string;
  readonly name: string;
}

export interface TableConfiguration {
  readonly custom_name?: string;
  readonly custom_column_names?: Readonly<Record<string, string>>;
  readonly column_config?: Readonly<Record<string, { readonly custom_name?: string } | undefined>>;
  readonly [other: string]: unknown;
}

export interface MetadataRelationship {
  readonly name: string;
  readonly using: {
    readonly foreign_key_constraint_on?: string | readonly string[] | ForeignKeyOn;
    readonly manual_configuration?: {
      readonly remote_table: string | TableReference;
      readonly column_mapping: Readonly<Record<string, string>>;
    };
  };
}

/** A foreign key of another table that refers to this table. */
export interface ForeignKeyOn {
  readonly table: string | TableReference;
  readonly column?: string;
  readonly columns?: readonly string[];
}

export interface MetadataPermission {
  readonly role: string;
  readonly permission: Readonly<Record<string, unknown>>;
}

/** The lists of permissions of a table, and the verb of `@auth` that each becomes. */
export const PERMISSIONS = {
  select_permissions: 'READ',
  insert_permissions: 'CREATE',
  update_permissions: 'UPDATE',
  delete_permissions: 'DELETE',
} as const;

export type Verb = (typeof PERMISSIONS)[keyof typeof PERMISSIONS];

/** @example referenceOf('users') // { schema: 'public', name: 'users' } */
export const referenceOf = (
  table: string | TableReference,
): { readonly schema: string; readonly name: string } =>
  typeof table === 'string'
    ? { schema: 'public', name: table }
    : { schema: table.schema ?? 'public', name: table.name };

/** The permissions of one verb that a table has. */
export function permissionsOf(
  table: MetadataTable,
  key: keyof typeof PERMISSIONS,
): readonly MetadataPermission[] {
  const given = (table[key] ?? []) as readonly (Partial<MetadataPermission> | null)[];
  return given.map((each) => ({ role: String(each?.role), permission: each?.permission ?? {} }));
}
