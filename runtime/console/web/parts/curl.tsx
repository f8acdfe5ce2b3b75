import { useState } from 'preact/hooks';
import { type Sent, sent } from '../call.ts';
import { t } from '../messages.ts';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { Icon } from './icons.tsx';
import { notify } from './notices.tsx';
import { curlOf } from './curl-command.ts';

/** The button `Show as curl`: the requests of this page as commands. */
export function CurlButton() {
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button class="curl-button plain" aria-haspopup="dialog" onClick={() => setOpen(true)}>
        <Icon>
          <path d="M2.5 4.5L6 8l-3.5 3.5M8 12h5.5" />
        </Icon>
        <span>{t('Show as curl')}</span>
      </Button>
      {open && <CurlDialog requests={sent.value} close={() => setOpen(false)} />}
    </>
  );
}

interface CurlDialogProps {
  readonly requests: readonly Sent[];
  close(): void;
}

function CurlDialog({ requests, close }: CurlDialogProps) {
  const commands = requests.map((each) => curlOf(each, location.origin)).join('\n');
  const copy = async () => {
    await navigator.clipboard.writeText(commands);
    notify(t('Copied'));
  };
  return (
    <Dialog title={t('As curl')} close={close} size="wide">
      <div class="curl">
        <p class="quiet">
          {t('The requests of this page, newest first. Set TOKEN to your access token.')}
          {commands.includes('$VALUE') && ` ${t('Set VALUE to the secret of a request.')}`}
        </p>
        {requests.length === 0 ? (
          <p>{t('This page has made no request.')}</p>
        ) : (
          <pre tabIndex={0}>{commands}</pre>
        )}
        <div class="buttons end">
          <Button class="main" disabled={commands === ''} onClick={copy}>
            {t('Copy')}
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
