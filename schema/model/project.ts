import type { Entity, Loader } from './entity.ts';
import type { FilterShape, OrderShape } from './lists.ts';
import type { ErrorType, Operation, WriteShape } from './operations.ts';
import type { SectionModels } from '../sections.ts';
import type {
  Api,
  ClientSettings,
  JobSettings,
  MigrationSettings,
  Observability,
  ServerOptions,
} from './settings.ts';
import type { AbstractType, Constraint, EnumType, ObjectType, ScalarType } from './types.ts';

/** The whole project, with the settings of each capability. */
export interface Project extends SectionModels {
  readonly name: string;
  /** The served SDL: the user's text in one piece, without our directives. */
  readonly sdl: string;
  /**
   * The part of `sdl` that `api.crud` added; it is also emitted as a file of its own for the user
   * to read.
   */
  readonly crudSdl?: string;
  readonly ids: IdKind;
  /** Another program owns the database: no statement ever changes its structure. */
  readonly unmanaged?: true;
  /** Milliseconds that a transaction of the project's own code may stay open. 10 s when absent. */
  readonly transactionTimeout?: number;
  /** Milliseconds that a read replica may be behind. 10 s when absent. */
  readonly maxLag?: number;
  /** How its transactions are kept apart: `serializable` when absent. */
  readonly isolation?: 'serializable' | 'repeatable read' | 'read committed';
  /** How migrations run on PostgreSQL; 5 s and 10,000 rows when absent. */
  readonly migrations?: MigrationSettings;
  /** Times in milliseconds; the defaults of the manifest when absent. */
  readonly jobs?: JobSettings;
  /** Absent when all parts of it are off. */
  readonly observability?: Observability;
  readonly entities: readonly Entity[];
  readonly objects: readonly ObjectType[];
  readonly abstracts: readonly AbstractType[];
  readonly enums: readonly EnumType[];
  readonly scalars: readonly ScalarType[];
  readonly operations: readonly Operation[];
  readonly loaders: readonly Loader[];
  /**
   * How an input object (or the arguments of a field) becomes columns and relations, by
   * `WriteShape.id`.
   */
  readonly writes: readonly WriteShape[];
  /** Limits of the fields of inputs: `NewTag.color`. */
  readonly constraints?: Readonly<Record<string, Constraint>>;
  /** The members of result unions that answer in place of an error; absent without any. */
  readonly errors?: readonly ErrorType[];
  /** How a `where` input becomes a condition, by the name of the input type. */
  readonly filters: readonly FilterShape[];
  /** How an `orderBy` input becomes an order, by the name of the input or enum type. */
  readonly orders: readonly OrderShape[];
  readonly api: Api;
  /** The front ends that get typed documents; absent without any. A server does not need them. */
  readonly clients?: readonly ClientSettings[];
  readonly server: ServerOptions;
}

/** `integer`: 1, 2, 3 …, on the wire as strings. `uuid`: version 7. */
export type IdKind = 'integer' | 'uuid';
