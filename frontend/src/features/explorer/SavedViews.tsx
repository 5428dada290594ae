/** The user's saved views: open, save, rename, update and remove with undo. */

import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Alert, Button, Group, NativeSelect, TextInput } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { SavedView } from "@/api/types";
import { ErrorNotice } from "@/components/Page";
import { changeView, keepView, removeView, viewsQuery } from "./queries";

interface SavedViewsProps {
  /** Search part of the address without the id of the view. */
  readonly query: string;
  readonly viewId: number | undefined;
  readonly onOpen: (query: string, viewId: number | undefined) => void;
}

type Naming = "new" | "rename" | undefined;

export function SavedViews({ query, viewId, onOpen }: SavedViewsProps) {
  const { data: views = [], error, refetch } = useQuery(viewsQuery);
  const [naming, setNaming] = useState<Naming>();
  const [removed, setRemoved] = useState<SavedView>();
  const open = views.find(({ id }) => id === viewId);
  return (
    <>
      <Group gap="xs">
        <NativeSelect
          aria-label={t`Saved view`}
          data={[
            { value: "", label: views.length === 0 ? t`No saved views yet` : t`Saved views …` },
            ...views.map(({ id, name }) => ({ value: String(id), label: name })),
          ]}
          onChange={({ currentTarget: { value } }) => {
            const chosen = views.find(({ id }) => String(id) === value);
            if (chosen) onOpen(chosen.query, chosen.id);
            else onOpen(query, undefined);
          }}
          size="xs"
          value={open ? String(open.id) : ""}
        />
        <Button onClick={() => setNaming("new")} size="xs" variant="default">{t`Save as view`}</Button>
        {open && (
          <OpenView
            onRemoved={(view) => {
              setRemoved(view);
              onOpen(query, undefined);
            }}
            onRename={() => setNaming("rename")}
            query={query}
            view={open}
          />
        )}
      </Group>
      {naming && (
        <NameForm
          key={`${naming} ${open?.id}`}
          onDone={(view) => {
            setNaming(undefined);
            if (view) onOpen(view.query, view.id);
          }}
          query={query}
          renamed={naming === "rename" ? open : undefined}
        />
      )}
      {error && <ErrorNotice error={error} onRetry={refetch} />}
      {removed && <Removed onBack={onOpen} onClose={() => setRemoved(undefined)} view={removed} />}
    </>
  );
}

interface OpenViewProps {
  readonly view: SavedView;
  readonly query: string;
  readonly onRename: () => void;
  readonly onRemoved: (view: SavedView) => void;
}

function OpenView({ view, query, onRename, onRemoved }: OpenViewProps) {
  const update = useMutation(changeView);
  const remove = useMutation(removeView);
  return (
    <>
      {query !== view.query && (
        <Button
          loading={update.isPending}
          onClick={() => update.mutate({ id: view.id, name: view.name, query })}
          size="xs"
        >{t`Save changes`}</Button>
      )}
      <Button onClick={onRename} size="xs" variant="default">{t`Rename`}</Button>
      <Button
        loading={remove.isPending}
        onClick={() => remove.mutate(view.id, { onSuccess: () => onRemoved(view) })}
        size="xs"
        variant="default"
      >{t`Remove view`}</Button>
      {update.error && <ErrorNotice error={update.error} />}
    </>
  );
}

interface NameFormProps {
  readonly query: string;
  /** Undefined: a new view. */
  readonly renamed: SavedView | undefined;
  /** Gets the saved view; undefined if cancelled. */
  readonly onDone: (view: SavedView | undefined) => void;
}

function NameForm({ query, renamed, onDone }: NameFormProps) {
  const [name, setName] = useState(renamed?.name ?? "");
  const keep = useMutation(keepView);
  const change = useMutation(changeView);
  const error = keep.error ?? change.error;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (renamed)
          change.mutate({ id: renamed.id, name: name.trim(), query: renamed.query }, { onSuccess: onDone });
        else keep.mutate({ name: name.trim(), query }, { onSuccess: onDone });
      }}
    >
      <Group align="flex-start" gap="xs" mt="xs">
        <TextInput
          aria-label={t`View name`}
          data-autofocus
          error={error?.message}
          maxLength={100}
          onChange={({ currentTarget }) => setName(currentTarget.value)}
          placeholder={t`View name`}
          size="xs"
          value={name}
        />
        <Button disabled={!name.trim()} loading={keep.isPending || change.isPending} size="xs" type="submit">
          {renamed ? t`Rename view` : t`Save view`}
        </Button>
        <Button onClick={() => onDone(undefined)} size="xs" variant="subtle">{t`Cancel`}</Button>
      </Group>
    </form>
  );
}

interface RemovedProps {
  readonly view: SavedView;
  readonly onBack: (query: string, viewId: number) => void;
  readonly onClose: () => void;
}

function Removed({ view: { name, query }, onBack, onClose }: RemovedProps) {
  const keep = useMutation(keepView);
  const undo = () =>
    keep.mutate(
      { name, query },
      {
        onSuccess: (kept) => {
          onClose();
          onBack(kept.query, kept.id);
        },
      },
    );
  return (
    <Alert closeButtonLabel={t`Close`} mt="xs" onClose={onClose} role="status" withCloseButton>
      <Group gap="xs">
        <Trans>
          The view “{name}” was removed.
          <Button loading={keep.isPending} onClick={undo} size="compact-xs" variant="outline">
            Undo
          </Button>
          {keep.error && <span>{keep.error.message}</span>}
        </Trans>
      </Group>
    </Alert>
  );
}
