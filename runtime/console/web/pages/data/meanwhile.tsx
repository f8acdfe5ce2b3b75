import { t } from '../../messages.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { decideLater, keepMine, type Row, type StagedRow, takeTheirs } from './staged.ts';
import { Value } from './value.tsx';

interface ChangedMeanwhileProps {
  readonly row: StagedRow;
  saved(path: string, row: Row): void;
  done(): void;
}

/** The dialog `Changed meanwhile`: the values of another user beside those of this user. */
export function ChangedMeanwhile({ row, saved, done }: ChangedMeanwhileProps) {
  const take = () => {
    takeTheirs(row);
    done();
  };
  const keep = async () => {
    await keepMine(row, saved);
    done();
  };
  return (
    <Dialog title={t('Changed meanwhile')} close={() => decideLater(row)} size="wide">
      <p>
        {t('Row {id} of {type} was changed since you read it.', { id: row.id, type: row.type })}
      </p>
      <div class="scroll" role="region" aria-label={t('Both versions')} tabIndex={0}>
        <table>
          <thead>
            <tr>
              {[t('Field'), t('Before'), t('Theirs'), t('Yours')].map((title) => (
                <th key={title} scope="col">
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {Object.entries(row.changes).map(([name, mine]) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                {[row.base[name], row.theirs?.[name], mine].map((value, index) => (
                  <td key={index}>
                    <Value value={value} />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <div class="buttons end">
        <Button onClick={take}>{t('Take theirs')}</Button>
        <Button class="main" onClick={keep}>
          {t('Keep mine')}
        </Button>
      </div>
    </Dialog>
  );
}
