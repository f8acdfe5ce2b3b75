import type { NoteCut } from '../data/select/pages.ts';
import { joinTexts, type JsonText } from '../store/large-text.ts';
import type { ExecutionResult } from 'graphql';

/** JSON text of the whole answer, or the result of the executor. */
export type Answer = { readonly text: JsonText } | { readonly result: ExecutionResult };

/** A list that has more rows than the answer shows, because nobody asked for a page of it. */
export interface Cut {
  /** The keys that lead to the list, without the places in the lists around it. */
  readonly path: readonly string[];
  /** The rows that the answer shows. */
  readonly size: number;
  /** How many lists of this path are cut. */
  lists: number;
}

/** The lists of one answer that were cut. */
export class Cuts {
  #found: Map<string, Cut> | undefined;

  /** Notes lists below the field with these keys. */
  at(...above: readonly string[]): NoteCut {
    return (path, size) => {
      const whole = [...above, ...path];
      const id = whole.join();
      const found = (this.#found ??= new Map()).get(id);
      if (found) found.lists += 1;
      else this.#found.set(id, { path: whole, size, lists: 1 });
    };
  }

  /** Undefined when no list was cut, as in most answers. */
  get list(): readonly Cut[] | undefined {
    return this.#found && [...this.#found.values()];
  }
}

/** The answer with `extensions.cut`, if a list of it was cut. */
export function withCuts(answer: Answer, { list: cut }: Cuts): Answer {
  if (!cut) return answer;
  if (!('text' in answer)) return { result: { ...answer.result, extensions: { cut } } };
  const { text } = answer;
  return { text: joinTexts([text.slice(0, -1), `,"extensions":${JSON.stringify({ cut })}}`]) };
}
