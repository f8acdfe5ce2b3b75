import type { Answer } from './answer.ts';
import { compileCode, type WrittenSelection } from './code.ts';
import { type Execution, type Path, placeAt } from './execution.ts';
import type { Fields } from './field.ts';
import { executeFields, isTree, type Members } from './fields.ts';

/**
 * What is selected on objects of one type. Where an operation runs often, code is made for it: loops over fields look up in
 * an object whatever the next field is called, which V8 cannot make fast, and code with the names in it can.
 */
export class Selection {
  readonly fields: Fields;
  #ofObject: WrittenSelection | null | undefined;
  #ofTree: WrittenSelection | null | undefined;

  constructor(fields: Fields) {
    this.fields = fields;
  }

  /** One object of the answer, or a promise of it. */
  execute(
    execution: Execution,
    value: unknown,
    path: Path,
    index: number,
  ): Answer | Promise<Answer> {
    const written =
      execution.often && typeof value === 'object' && value !== null
        ? this.#writtenFor(value)
        : null;
    return written
      ? written(execution, value as Members, path, index)
      : executeFields(execution, this.fields, value, placeAt(path, index));
  }

  #writtenFor(value: object): WrittenSelection | null {
    if (isTree(value))
      return this.#ofTree === undefined
        ? (this.#ofTree = compileCode(this.fields, 'tree'))
        : this.#ofTree;
    return this.#ofObject === undefined
      ? (this.#ofObject = compileCode(this.fields, 'object'))
      : this.#ofObject;
  }
}
