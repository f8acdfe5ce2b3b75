import { useState } from 'preact/hooks';
import { query } from '../../address.ts';
import { t } from '../../messages.ts';
import { Options } from '../../parts/field.tsx';
import { Button, CloseButton } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import type { Column, InputField, Module } from '../../rest-modules.ts';
import { Control } from './control.tsx';
import { valueOf } from './value.tsx';
import { type Condition, WORD_TEXTS, conditionsOf, parameterOf, put, begun } from './conditions.ts';

/** The button `Filter` and its dialog. */
export function FilterButton({ module }: { module: Module }) {
  const [open, setOpen] = useState(false);
  const active = conditionsOf(module, query.value).length;
  if (module.columns.every(({ words }) => words.length === 0)) return null;
  return (
    <>
      <Button aria-haspopup="dialog" onClick={() => setOpen(true)}>
        {t('Filter')}
        {active > 0 && (
          <span class="count" aria-hidden="true">
            {active}
          </span>
        )}
      </Button>
      {open && <FilterDialog module={module} close={() => setOpen(false)} />}
    </>
  );
}

/** The present conditions, each with a button that removes it. */
export function FilterChips({ module }: { module: Module }) {
  const conditions = conditionsOf(module, query.value);
  if (conditions.length === 0) return null;
  return (
    <ul class="chips" aria-label={t('Filters')}>
      {conditions.map((each) => (
        <li key={parameterOf(each)}>
          <span>
            {each.column.name} {t(WORD_TEXTS[each.word] ?? each.word)}{' '}
            {each.word === 'isNull' && each.text === 'true' ? '' : <b>{each.text || '""'}</b>}
          </span>
          <CloseButton
            label={t('Remove filter {name}', { name: parameterOf(each) })}
            onClick={() =>
              put(
                module,
                conditions.filter((other) => other !== each),
              )
            }
          />
        </li>
      ))}
    </ul>
  );
}

interface Draft extends Condition {
  readonly key: number;
}

let last = 0;

const draftOf = (condition: Condition): Draft => ({ ...condition, key: (last += 1) });

function FilterDialog({ module, close }: { module: Module; close: () => void }) {
  const columns = module.columns.filter(({ words }) => words.length > 0);
  const fresh = () => {
    const first = columns.find(({ name }) => name !== 'id') ?? columns[0];
    return first ? [draftOf(begun(first))] : [];
  };
  const [drafts, setDrafts] = useState<readonly Draft[]>(() => {
    const known = conditionsOf(module, query.value).map(draftOf);
    return known.length > 0 ? known : fresh();
  });
  const change = (key: number, next: Partial<Draft>) =>
    setDrafts(drafts.map((each) => (each.key === key ? { ...each, ...next } : each)));
  const apply = (event: SubmitEvent) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const texts = drafts.map((draft) => ({ ...draft, text: textIn(form, draft) }));
    put(
      module,
      texts.filter(
        ({ word, column, text }) =>
          text !== '' || (word === 'eq' && column.kind === 'text' && !column.keyOf),
      ),
    );
    close();
  };
  return (
    <Dialog title={t('Filter')} close={close} size="wide">
      <form class="filter" onSubmit={apply}>
        {drafts.map((draft) => (
          <FilterLine
            key={draft.key}
            draft={draft}
            columns={columns}
            change={(next) => change(draft.key, next)}
            remove={() => setDrafts(drafts.filter(({ key }) => key !== draft.key))}
          />
        ))}
        <div class="buttons">
          <Button onClick={() => setDrafts([...drafts, ...fresh()])}>{t('Add condition')}</Button>
          <Button onClick={() => (put(module, []), close())}>{t('Clear all')}</Button>
          <span class="spread" />
          <Button onClick={close}>{t('Cancel')}</Button>
          <button type="submit" class="main">
            {t('Apply')}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

function textIn(form: HTMLFormElement, { key, column, word }: Draft): string {
  const at = `[data-condition="${key}"] .operand [name]`;
  const text = form.querySelector<HTMLInputElement>(at)?.value ?? '';
  return String(valueOf(operandOf(column, word), text) ?? '');
}

interface FilterLineProps {
  readonly draft: Draft;
  readonly columns: readonly Column[];
  change(next: Partial<Draft>): void;
  remove(): void;
}

function FilterLine({ draft, columns, change, remove }: FilterLineProps) {
  const { column, word, text, key } = draft;
  return (
    <div class="filter-line" data-condition={key}>
      <select
        aria-label={t('Field')}
        onChange={(event) => {
          const next = columns.find(({ name }) => name === event.currentTarget.value);
          if (next) change(begun(next));
        }}
      >
        <Options of={columns.map(({ name }) => [name, name])} chosen={column.name} />
      </select>
      <select
        aria-label={t('Condition')}
        onChange={(event) => change({ word: event.currentTarget.value })}
      >
        <Options
          of={column.words.map((each) => [each, t(WORD_TEXTS[each] ?? each)])}
          chosen={word}
        />
      </select>
      <span class="operand" key={`${column.name} ${isMany(word)}${word === 'isNull'}`}>
        <Control
          field={operandOf(column, word)}
          text={word === 'isNull' && text === '' ? 'true' : text}
        />
      </span>
      <CloseButton label={t('Remove condition')} onClick={remove} />
    </div>
  );
}

const isMany = (word: string) => word === 'in' || word === 'notIn';

/** The control for an operand. A list is a text with commas, and a part of a text is a text. */
function operandOf({ kind, values, keyOf }: Column, word: string): InputField {
  const plain = { name: t('Value'), required: false, nullable: false, values, keyOf: null };
  if (word === 'isNull') return { ...plain, kind: 'boolean' };
  if (isMany(word) || kind === 'json') return { ...plain, kind: 'text' };
  return { ...plain, kind, keyOf };
}
