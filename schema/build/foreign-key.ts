import type { OnDelete } from '../model.ts';
import type { FieldFact } from './facts.ts';

/** A column that holds the key of another entity's row. */
export interface ForeignKey {
  readonly owner: string;
  readonly column: string;
  /** The columns of the key, when it is composite or `@relation(columns:)` names them. */
  readonly columns?: readonly string[];
  /** Fields of the other entity, when they are not its key. */
  readonly references?: readonly string[];
  /** Names in the database that differ from those in the model, by the latter. */
  readonly stored?: ReadonlyMap<string, string>;
  /** The column with the type's name, if the row may be of several types. */
  readonly typeColumn?: string;
  /** The entity that the key references; for several types, the name of the interface or union. */
  readonly target: string;
  readonly required: boolean;
  readonly unique: boolean;
  readonly onDelete: OnDelete;
  /** The relation or `ID` field that the key was made for; undefined for hidden keys. */
  readonly field?: FieldFact;
}
