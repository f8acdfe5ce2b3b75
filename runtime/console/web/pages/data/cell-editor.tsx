import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { t } from '../../messages.ts';
import { Button } from '../../parts/button.tsx';
import type { InputField } from '../../rest-modules.ts';
import { Control } from './control.tsx';
import { textOf, valueOf } from './value.tsx';
import type { Editing, GridState } from './grid-state.ts';
import { type Row, stage } from './staged.ts';

interface CellEditorProps {
  readonly grid: GridState;
  readonly field: InputField;
  readonly row: Row;
  readonly value: unknown;
  readonly place: Editing;
}

/**
 * The control in a cell that is being edited. Enter and a click elsewhere stage the value, Escape
 * discards it.
 */
export function CellEditor({ grid, field, row, value, place }: CellEditorProps) {
  const { typed } = place;
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
    focusIn(root.current, typed?.length ?? 0);
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
    if (finish() && event.key === 'Tab')
      grid.go({ row: place.row, column: place.column + (event.shiftKey ? -1 : 1) });
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

/** Gives the control the focus, with what follows the typed characters selected. */
function focusIn(root: Element | null, typed: number): void {
  const control = root?.querySelector<HTMLElement>('input, select, textarea');
  control?.focus();
  if (control instanceof HTMLInputElement && !control.type.startsWith('date'))
    control.setSelectionRange(typed, control.value.length);
}
