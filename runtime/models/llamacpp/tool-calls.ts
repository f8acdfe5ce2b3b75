import { randomUUID } from 'node:crypto';
import { CALL_BEGIN, CALL_END } from './tools.ts';

/** A call of a function in an answer. `arguments` is JSON text. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

/** Receives the parts of an answer in their order. */
export interface AnswerParts {
  text(piece: string): void;
  call(call: ToolCall): void;
}

const HEAD = /^\s*\{"name":\s*"([\w-]+)",\s*"arguments":\s*/;

/**
 * Separates the calls of functions from the text of an answer. Text that may be the begin of a call
 * is held until the next piece.
 */
export class ToolCallReader {
  readonly #parts: AnswerParts;
  #held = '';
  #inCall = false;

  constructor(parts: AnswerParts) {
    this.#parts = parts;
  }

  push(piece: string): void {
    this.#held += piece;
    while (this.#inCall ? this.#readCall() : this.#readText()) {
      // Each turn takes one part off the held text.
    }
  }

  /** Reads what is left. A call that was cut is passed on with the arguments that there are. */
  end(): void {
    if (!this.#inCall) return this.#text(this.#held);
    const cut = this.#held.replace(/^\n/, '');
    const name = HEAD.exec(cut);
    if (name) this.#call(name[1] as string, cut.slice(name[0].length));
    else this.#text(CALL_BEGIN + this.#held);
  }

  #readText(): boolean {
    const at = this.#held.indexOf(CALL_BEGIN);
    if (at >= 0) {
      const before = this.#held.slice(0, at);
      // The line break between two calls is not text.
      if (before.trim() !== '') this.#text(before);
      this.#held = this.#held.slice(at + CALL_BEGIN.length);
      this.#inCall = true;
      return true;
    }
    const kept = beginOfCall(this.#held);
    const isSpace = this.#held.trim() === '';
    if (isSpace) return false;
    this.#text(this.#held.slice(0, this.#held.length - kept));
    this.#held = this.#held.slice(this.#held.length - kept);
    return false;
  }

  #readCall(): boolean {
    for (
      let at = this.#held.indexOf(CALL_END);
      at >= 0;
      at = this.#held.indexOf(CALL_END, at + 1)
    ) {
      const found = parseCall(this.#held.slice(0, at));
      if (!found) continue;
      this.#call(found.name, found.arguments);
      this.#held = this.#held.slice(at + CALL_END.length);
      this.#inCall = false;
      return true;
    }
    return false;
  }

  #text(piece: string): void {
    if (piece !== '') this.#parts.text(piece);
  }

  #call(name: string, args: string): void {
    this.#parts.call({ id: `call_${randomUUID().replaceAll('-', '')}`, name, arguments: args });
  }
}

/** How many characters at the end of a text may begin a call. */
function beginOfCall(text: string): number {
  for (let length = Math.min(CALL_BEGIN.length - 1, text.length); length > 0; length -= 1)
    if (text.endsWith(CALL_BEGIN.slice(0, length))) return length;
  return 0;
}

function parseCall(text: string): { readonly name: string; readonly arguments: string } | null {
  try {
    const { name, arguments: args } = JSON.parse(text) as { name?: unknown; arguments?: unknown };
    if (typeof name !== 'string') return null;
    const head = HEAD.exec(text.replace(/^\s+/, ''));
    const rest = head && text.replace(/^\s+/, '').slice(head[0].length).trimEnd().slice(0, -1);
    return { name, arguments: rest ?? JSON.stringify(args ?? {}) };
  } catch {
    return null;
  }
}
