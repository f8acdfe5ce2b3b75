import { defineComponent, h, onBeforeUnmount, onMounted, type PropType, ref, watch } from 'vue';
import type { Diagnostic } from '@twofold/schema';
import { createEditor, type PlaygroundEditor } from './editor.ts';

/** The place of an editor: shows `text`, and hands on what is typed if `change` is there. */
export const EditorView = defineComponent({
  props: {
    label: { type: String, required: true },
    file: { type: String, required: true },
    text: { type: String, required: true },
    findings: { type: Array as PropType<readonly Diagnostic[]>, default: () => [] },
    /** Where the cursor goes. */
    at: { type: Object as PropType<Diagnostic['at'] | null>, default: null },
    change: { type: Function as PropType<(text: string) => void>, default: undefined },
  },
  setup(props) {
    const host = ref<HTMLElement>();
    let editor: PlaygroundEditor | undefined;
    onMounted(() => {
      editor = createEditor(host.value!, {
        label: props.label,
        ...(props.change && { change: (text: string) => props.change?.(text) }),
      });
      editor.show(props.file, props.text);
    });
    watch(
      () => [props.file, props.text] as const,
      ([file, text]) => editor?.show(file, text),
    );
    watch(
      () => props.findings,
      (findings) => editor?.mark(findings),
    );
    watch(
      () => props.at,
      (at) => at && editor?.go(at.line, at.column),
      { flush: 'post' },
    );
    onBeforeUnmount(() => editor?.close());
    return () => h('div', { ref: host, class: 'play-editor' });
  },
});
