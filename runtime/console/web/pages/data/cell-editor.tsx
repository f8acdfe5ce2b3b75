import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { t } from '../../messages.ts';
import { Button } from '../../parts/button.tsx';
import type { InputField } from '../../rest-modules.ts';
import { Control } from './control.tsx';
import { textOf, valueOf } from './field-text.ts';
import type { GridState } from './grid-state.ts';
import { type Row, stage } from './staged.ts';

interface CellEditorProps {
  readonly grid: GridState;
  readonly field: InputField;
  readonly row: Row;
  readonly value: unknown;
  /** The typed character that began the edit and replaces the value; null otherwise. */
  readonly typed: string | null;
}

/**
 * The control in a cell that is being edited. Enter and a click elsewhere stage the value, Escape
 * discards it.
 */
export function CellEditor({ grid, field, row, value, typed }: CellEditorProps) {
  const root = useRef<HTMLDivElement>(null);
  const [wrong, setWrong] = useState<string | null>(null);
  const { path, type } = grid.module;
  const put = (next: unknown) => {
    stage({ path, type, row }, field.name, next);
    grid.leave();
  };
  const finish = (): boolean => {
    const control = root.current?.querySelector<HTMLInputElement>('[name]');
    try {
      const next = valueOf(field, control?.value ?? '');
      if (next === undefined) return (setWrong(t('Enter a value')), false);
      return (put(next), true);
    } catch {
      return (setWrong(t('This is not valid JSON')), false);
    }
  };
  // The control gets the focus before the browser draws, so that the next key goes to it.
  useLayoutEffect(() => {
    const beside = (event: Event) => {
      if (!root.current?.contains(event.target as Node) && !finish()) grid.leave();
    };
    const control = root.current?.querySelector<HTMLElement>('input, select, textarea');
    control?.focus();
    // The cursor is put after the first character.
    if (control instanceof HTMLInputElement && !control.type.startsWith('date'))
      control.setSelectionRange(typed === null ? 0 : typed.length, control.value.length);
    document.addEventListener('pointerdown', beside, true);
    return () => document.removeEventListener('pointerdown', beside, true);
  }, []);
  const onKeyDown = (event: KeyboardEvent) => {
    event.stopPropagation();
    if (event.defaultPrevented) return;
    if (event.key === 'Escape') return (event.preventDefault(), grid.leave());
    const isEnd = event.key === 'Tab' || (event.key === 'Enter' && !event.shiftKey);
    if (!isEnd || (event.target as Element).matches('.null-button')) return;
    event.preventDefault();
    const { row: at, column } = grid.editing.peek()!;
    if (finish() && event.key === 'Tab')
      grid.go({ row: at, column: column + (event.shiftKey ? -1 : 1) });
  };
  return (
    <div class="cell-editor" ref={root} onKeyDown={onKeyDown}>
      <Control
        field={field}
        text={typed ?? textOf(field, value)}
        invalid={wrong !== null}
        choose={put}
      />
      {field.nullable && (
        <Button class="null-button" onClick={() => put(null)}>
          NULL
        </Button>
      )}
      {wrong !== null && (
        <p class="cell-editor-error" role="alert">
          {wrong}
        </p>
      )}
    </div>
  );
}
