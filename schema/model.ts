/**
 * The model: what the two input files mean, as plain JSON.
 *
 * Every stage after `build` and every part of the runtime works from these shapes. They hold no functions, no graphql-js
 * objects and no file positions, so that `generate --print-model` can print them, a test can write one by hand, and the
 * emitted project can carry them as data.
 */

/** The whole project. */
export interface Project {
  readonly name: string;
  /** The SDL as it is served: the user's own text merged, with our directives' uses and definitions left out. */
  readonly sdl: string;
  /** The part of `sdl` that `api.crud` added; it is emitted as a file of its own for people to read. */
  readonly crudSdl?: string;
  readonly ids: IdKind;
  readonly entities: readonly Entity[];
  readonly objects: readonly ObjectType[];
  readonly abstracts: readonly AbstractType[];
  readonly enums: readonly EnumType[];
  readonly scalars: readonly ScalarType[];
  readonly operations: readonly Operation[];
  readonly loaders: readonly Loader[];
  /** How an input object (or the arguments of a field) becomes columns and relations, by `WriteShape.id`. */
  readonly writes: readonly WriteShape[];
  /** How a `where` input becomes a condition, by the name of the input type. */
  readonly filters: readonly FilterShape[];
  /** How an `orderBy` input becomes an order, by the name of the input or enum type. */
  readonly orders: readonly OrderShape[];
  readonly api: Api;
  readonly server: ServerOptions;
  readonly auth: AuthModel | null;
  readonly hosting: HostingModel | null;
}

/** `integer`: 1, 2, 3 …, on the wire as strings. `uuid`: version 7. */
export type IdKind = 'integer' | 'uuid';

export type TypeKind = 'scalar' | 'enum' | 'entity' | 'object' | 'interface' | 'union' | 'input';

/** A type as a field or argument names it. */
export interface TypeRef {
  readonly name: string;
  readonly kind: TypeKind;
  /** As the SDL prints it: `[Post!]!`. */
  readonly text: string;
  readonly required: boolean;
  readonly list: boolean;
  /** Whether the items of a list are non-null. */
  readonly itemRequired: boolean;
}

export interface Argument {
  readonly name: string;
  readonly type: TypeRef;
  readonly constraint?: Constraint;
}

/** An object type that is a table. */
export interface Entity {
  readonly name: string;
  /** `User` → `user` in loader names and error texts. */
  readonly singular: string;
  /** `User` → `users`: table, list fields, and in kebab-case the REST path. */
  readonly plural: string;
  readonly table: string;
  readonly description?: string;
  /** In the schema's order. */
  readonly fields: readonly Field[];
  /** Everything stored in the entity's own table, the foreign keys included, the key first. */
  readonly columns: readonly Column[];
  readonly indexes: readonly Index[];
  readonly rules: readonly AuthRule[];
  /** Interfaces it implements, by name. */
  readonly interfaces: readonly string[];
  readonly renamedFrom?: string;
  /** Column that marks a removed row, when `@entity(softDelete: true)`. */
  readonly softDelete?: string;
}

export interface Field {
  readonly name: string;
  readonly type: TypeRef;
  readonly args: readonly Argument[];
  readonly description?: string;
  readonly deprecated?: string;
  readonly source: FieldSource;
  readonly rules: readonly AuthRule[];
  /** What decided `source`: the name of the inference rule or `@directive`. `explain` prints it. */
  readonly decidedBy: string;
}

/** Where a field's value comes from. */
export type FieldSource =
  | { readonly kind: 'column'; readonly column: string }
  | One
  | Many
  | { readonly kind: 'custom' };

/** A to-one relation. `own`: the foreign key is a column of this table; `inverse`: of the other. */
export interface One {
  readonly kind: 'one';
  readonly entity: string;
  readonly key: 'own' | 'inverse';
  readonly column: string;
  /** Field of the other entity that is the other end, if the schema has one. */
  readonly inverse?: string;
  /** For a field whose type is an interface or union of entities: the column with the type's name. */
  readonly typeColumn?: string;
}

/** A to-many relation: over a foreign key of the other table, or over a join table. */
export interface Many {
  readonly kind: 'many';
  readonly entity: string;
  readonly via:
    /** `typeColumn`: the key may be of several types, and this column has to say ours. */
    | { readonly kind: 'column'; readonly column: string; readonly typeColumn?: string }
    | { readonly kind: 'table'; readonly table: string; readonly own: string; readonly other: string };
  readonly inverse?: string;
  readonly list: ListOptions;
}

/** The arguments of a list and what they do. */
export interface ListOptions {
  /** Arguments that filter by equality. */
  readonly filters: readonly { readonly arg: string; readonly column: string }[];
  readonly where?: { readonly arg: string; readonly shape: string };
  readonly orderBy?: { readonly arg: string; readonly shape: string };
  readonly paging: Paging;
  /** Set when the field returns a Relay connection; its parts are found by the connection's own type. */
  readonly connection?: Connection;
  /** Columns that a caller may filter by, when `@list(filter:)` names them; all of them when absent. */
  readonly filterable?: readonly string[];
  /** The order when the caller asks for none; the key is always the last column of it. */
  readonly order: readonly { readonly column: string; readonly descending: boolean }[];
}

export interface Paging {
  readonly limit?: string;
  readonly offset?: string;
  readonly first?: string;
  readonly after?: string;
  readonly last?: string;
  readonly before?: string;
  /** Rows when the caller names no number. */
  readonly default: number;
  /** The most a caller may ask for. */
  readonly max: number;
}

export interface Connection {
  readonly type: string;
  /** The type of its edges; absent when it declares nodes alone. */
  readonly edge?: string;
  /** Names of the fields as the schema declares them; absent when it does not. */
  readonly nodes?: string;
  readonly totalCount?: string;
}

export interface Column {
  readonly name: string;
  /** The field that shows it, if one does. */
  readonly field?: string;
  readonly type: ColumnType;
  readonly required: boolean;
  readonly unique: boolean;
  readonly values?: readonly string[];
  /** Name of the SDL scalar, enum or object; picks the codec. */
  readonly scalar: string;
  /** Whether the SDL type is a list (then `type` is `json`). */
  readonly list: boolean;
  readonly default?: ColumnDefault;
  /** `now` on insert, or on insert and every update. */
  readonly stamp?: 'created' | 'updated';
  readonly references?: { readonly entity: string; readonly onDelete: OnDelete };
  readonly constraint?: Constraint;
  readonly renamedFrom?: string;
}

export type OnDelete = 'cascade' | 'restrict' | 'set null';

/** Stored form. `timestamp` is UTC in ISO 8601 text on SQLite and `timestamptz` on PostgreSQL; `id` follows `Project.ids`. */
export type ColumnType =
  | 'id' | 'text' | 'integer' | 'bigint' | 'real' | 'decimal' | 'boolean' | 'timestamp' | 'date' | 'time' | 'json' | 'uuid' | 'bytes';

export type ColumnDefault =
  | { readonly kind: 'value'; readonly value: string | number | boolean | null }
  | { readonly kind: 'now' | 'uuid' | 'autoincrement' };

export interface Constraint {
  readonly min?: number;
  readonly max?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly format?: string;
}

export interface Index {
  readonly name: string;
  readonly columns: readonly string[];
  readonly unique: boolean;
}

/** An object type that is not a table: a JSON column's shape, a payload, a connection, an edge. */
export interface ObjectType {
  readonly name: string;
  readonly role: 'value' | 'payload' | 'connection' | 'edge' | 'pageInfo' | 'root';
  readonly fields: readonly { readonly name: string; readonly type: TypeRef; readonly args: readonly Argument[] }[];
}

export interface AbstractType {
  readonly name: string;
  readonly kind: 'interface' | 'union';
  readonly members: readonly string[];
}

export interface EnumType {
  readonly name: string;
  readonly values: readonly string[];
  /** Values that had another name, by `@renamed`: rows that hold the old one are rewritten. */
  readonly renames?: readonly { readonly from: string; readonly to: string }[];
}

export interface ScalarType {
  readonly name: string;
  readonly column: ColumnType;
  /** `builtin`: GraphQL's own; `known`: ours; `user`: mapped in `src/scalars.ts`. */
  readonly source: 'builtin' | 'known' | 'user';
}

/** A field of Query, Mutation or Subscription. */
export interface Operation {
  readonly root: 'query' | 'mutation' | 'subscription';
  readonly name: string;
  readonly args: readonly Argument[];
  readonly type: TypeRef;
  readonly description?: string;
  readonly action: Action;
  readonly rules: readonly AuthRule[];
  readonly decidedBy: string;
}

/** What a root field does. Data, so that a whole selection of them can become one statement. */
export type Action =
  /** One row, by key or by fields. `by` maps arguments to columns. `unique` is false when several rows could match. */
  | { readonly kind: 'get'; readonly entity: string; readonly by: readonly { readonly arg: string; readonly column: string }[]; readonly unique: boolean }
  | { readonly kind: 'list'; readonly entity: string; readonly list: ListOptions }
  /** A list over an interface or union of entities. */
  | { readonly kind: 'listAbstract'; readonly type: string; readonly list: ListOptions }
  /** `node(id: ID!): Node`. */
  | { readonly kind: 'node'; readonly arg: string }
  | { readonly kind: 'create'; readonly entity: string; readonly write: string; readonly input?: string; readonly returns: Returns }
  | { readonly kind: 'update'; readonly entity: string; readonly id: ArgumentPath; readonly write: string; readonly input?: string; readonly returns: Returns }
  | { readonly kind: 'remove'; readonly entity: string; readonly id: ArgumentPath; readonly returns: Returns }
  | { readonly kind: 'subscribe'; readonly entity: string; readonly on: readonly ChangeKind[]; readonly id?: string }
  | { readonly kind: 'custom' };

export type ChangeKind = 'created' | 'updated' | 'deleted';

/** Where an argument is found: `['id']`, or `['input', 'id']` inside an input object. */
export type ArgumentPath = readonly string[];

/** What a mutation answers with. `payload` names the field of the payload that holds the entity, and others. */
export type Returns =
  | { readonly kind: 'entity' }
  | { readonly kind: 'id' }
  | { readonly kind: 'boolean' }
  | {
      readonly kind: 'payload';
      readonly type: string;
      readonly entity?: string;
      readonly id?: string;
      readonly ok?: string;
      readonly clientMutationId?: string;
      /** Lists of errors, which are empty when it worked: `errors`, `userErrors`. */
      readonly empty?: readonly string[];
    };

/** One entry for each way rows are fetched in batches. */
export interface Loader {
  /** `user`, `postsByAuthor`. */
  readonly name: string;
  readonly entity: string;
  readonly by: string;
  readonly many: boolean;
  readonly via?: { readonly table: string; readonly own: string; readonly other: string };
}

export interface WriteShape {
  /**
   * `CreateUserInput:User`, or `Mutation.createUser:User` when the fields are arguments; `UserInput#patch:User` when the input
   * holds the key beside what it writes. It always ends with `:` and the entity.
   */
  readonly id: string;
  readonly entity: string;
  readonly writes: readonly Write[];
}

/** What one input field writes. */
export type Write =
  | { readonly kind: 'column'; readonly name: string; readonly column: string; readonly constraint?: Constraint }
  /** To-one by key: `authorId`. */
  | { readonly kind: 'key'; readonly name: string; readonly field: string }
  /** To-many by keys, the whole set: `tagIds`. */
  | { readonly kind: 'keys'; readonly name: string; readonly field: string }
  /** `author: { connect: { id } | create: {…} }`, `tags: { connect: [...], disconnect: [...], create: [...] }`. */
  | {
      readonly kind: 'nested';
      readonly name: string;
      readonly field: string;
      readonly connect?: string;
      readonly disconnect?: string;
      readonly create?: { readonly name: string; readonly shape: string };
    }
  /** Carried through to the payload: `clientMutationId`; nothing is stored. */
  | { readonly kind: 'ignored'; readonly name: string };

export interface FilterShape {
  /** Name of the input type. */
  readonly id: string;
  readonly entity: string;
  readonly filters: readonly Filter[];
}

export type FilterOperator =
  | 'eq' | 'ne' | 'in' | 'notIn' | 'lt' | 'lte' | 'gt' | 'gte' | 'contains' | 'startsWith' | 'endsWith' | 'isNull';

export type Filter =
  | { readonly kind: 'operators'; readonly name: string; readonly column: string; readonly operators: readonly FilterOperator[] }
  | { readonly kind: 'equals'; readonly name: string; readonly column: string }
  | { readonly kind: 'and' | 'or' | 'not'; readonly name: string }
  | { readonly kind: 'one'; readonly name: string; readonly field: string; readonly shape: string }
  | {
      readonly kind: 'many';
      readonly name: string;
      readonly field: string;
      readonly quantifiers: readonly ('some' | 'every' | 'none')[];
      readonly shape: string;
    };

export interface OrderShape {
  /** Name of the enum or input type. */
  readonly id: string;
  readonly entity: string;
  readonly form:
    /** `enum UserOrder { NAME_ASC NAME_DESC }` */
    | { readonly kind: 'enum'; readonly values: readonly { readonly value: string; readonly column: string; readonly descending: boolean }[] }
    /** `input UserOrder { name: SortDirection }` */
    | { readonly kind: 'fields'; readonly fields: readonly { readonly name: string; readonly column: string }[] }
    /** `input UserOrder { field: UserOrderField!, direction: SortDirection }` */
    | {
        readonly kind: 'pair';
        readonly field: string;
        readonly direction?: string;
        readonly values: readonly { readonly value: string; readonly column: string }[];
      };
}

export type Allow = 'PUBLIC' | 'USER' | 'OWNER' | 'ROLE' | 'API_KEY';
export type Verb = 'READ' | 'CREATE' | 'UPDATE' | 'DELETE';

/** One `@auth`. Several on one type or field are alternatives. */
export interface AuthRule {
  readonly allow: readonly Allow[];
  readonly roles: readonly string[];
  /** Column that holds the owner's user id, when `OWNER` is allowed. */
  readonly owner?: string;
  readonly on: readonly Verb[];
}

/** What the GraphQL and REST surface does, with sizes in bytes and times in milliseconds. */
export interface Api {
  readonly path: string;
  readonly access: 'user' | 'public';
  readonly crud: boolean;
  readonly rest: boolean;
  readonly limits: ApiLimits;
  readonly introspection: When;
  readonly graphiql: When;
  readonly suggestions: When;
  readonly trustedDocuments: { readonly file: string; readonly required: boolean } | null;
}

export type When = 'always' | 'development' | 'never';

export interface ApiLimits {
  readonly depth: number;
  readonly cost: number;
  readonly aliases: number;
  readonly rootFields: number;
  readonly directives: number;
  readonly tokens: number;
  readonly batch: number;
  readonly list: number;
  readonly time: number;
  readonly result: number;
}

export interface ServerOptions {
  readonly port: number;
  readonly host: string;
  readonly cors: readonly string[];
  readonly trustedProxies: readonly string[];
  /** Bytes. */
  readonly bodyLimit: number;
}

/** A sliding window: at most `count` in `window` milliseconds. */
export interface RateLimit {
  readonly count: number;
  readonly window: number;
}

/** `auth:` of the manifest, with every default filled in; times in milliseconds. */
export interface AuthModel {
  readonly profile: 'standard' | 'strict' | 'nist';
  readonly user: AuthUser;
  readonly roles: { readonly list: readonly string[]; readonly default: string; readonly first: string | null } | null;
  readonly jwt: { readonly ttl: number; readonly leeway: number; readonly issuer: string | null; readonly audience: string | null; readonly maxBytes: number };
  readonly refresh: { readonly enabled: boolean; readonly idle: number; readonly absolute: number; readonly grace: number; readonly delivery: 'body' | 'cookie' };
  readonly password: {
    readonly min: number;
    readonly max: number;
    readonly score: number;
    readonly bcryptCost: number;
    readonly contextWords: readonly string[];
    readonly hashConcurrency: number | 'auto';
    readonly hashQueue: number;
  };
  readonly lockout: { readonly attempts: number; readonly window: number; readonly duration: number; readonly factor: number; readonly max: number; readonly hardAfter: number };
  readonly requireApiKey: boolean;
  readonly requireVerifiedEmail: boolean;
  readonly enumeration: 'standard' | 'strict';
  readonly rateLimits: Readonly<Record<string, RateLimit>>;
  /** Limits of single routes, by `METHOD /path`; absent when there are none. */
  readonly routeLimits?: Readonly<Record<string, RateLimit & { readonly by: 'ip' | 'user' | 'key' }>>;
  readonly oauth: { readonly linking: 'verified' | 'never'; readonly returnTo: readonly string[]; readonly providers: readonly OAuthProvider[] };
  readonly events: {
    readonly webhooks: readonly { readonly url: string; readonly secretEnv: string; readonly types: readonly string[] }[];
    readonly alertEmail: string | null;
    readonly retention: number;
  };
}

/** Which entity is a user, and which of its columns the module uses in place of the side table's. */
export interface AuthUser {
  /** `null`: the runtime keeps a `users` table of its own. */
  readonly entity: string | null;
  readonly table: string;
  /** Attribute → column of the entity's table. What is absent stands in the side table. */
  readonly columns: Readonly<Partial<Record<UserAttribute, string>>>;
  /** Required fields of the entity that register takes from its body. */
  readonly registerFields: readonly string[];
}

export type UserAttribute =
  | 'email' | 'name' | 'first_name' | 'last_name' | 'username' | 'phone' | 'avatar_url' | 'last_login' | 'email_verified_at' | 'created_at' | 'updated_at';

export interface OAuthProvider {
  readonly name: string;
  readonly preset: string;
  /** Everything else the manifest says of it, in snake_case as written there. */
  readonly options: Readonly<Record<string, unknown>>;
}

/** `hosting:` of the manifest, with every default filled in; sizes in bytes, times in milliseconds. */
export interface HostingModel {
  readonly engine: { readonly kind: 'auto' | 'docker' | 'podman' | 'swarm'; readonly socket: string | null };
  readonly domain: string;
  readonly access: 'host' | 'users';
  readonly defaults: { readonly port: number; readonly memory: number; readonly cpus: number; readonly pids: number };
  readonly deploys: { readonly keep: number; readonly readyTimeout: number; readonly drain: number };
  readonly build: { readonly timeout: number; readonly memory: number; readonly concurrency: number; readonly allowAddUrl: boolean; readonly from: readonly string[] };
  readonly source: { readonly max: number; readonly maxUnpacked: number; readonly entries: number };
  readonly git: { readonly allowHttp: boolean; readonly allowPrivate: boolean };
  readonly ingress: { readonly http: number; readonly https: number; readonly acme: { readonly email: string | null; readonly directory: string | null } };
  readonly diskFloor: number;
  readonly templates: string;
  readonly models: { readonly directory: string; readonly engine: string; readonly list: readonly unknown[] };
}
