import { type ReactNode, type RefObject, useEffect, useMemo, useRef } from "react";
import {
  Button,
  type DragAndDropHooks,
  ListLayout,
  Tree,
  TreeItem,
  TreeItemContent,
  useDragAndDrop,
  Virtualizer,
} from "react-aria-components";
import type { StateRecord } from "../../../../types/control-api.ts";
import { getOrAdd } from "../../../engine/maps.ts";
import { pluralize } from "../../components/text.tsx";

const ROW_HEIGHT = 36;

interface DepartmentTreeProps {
  tree: readonly Branch[];
  departments: readonly Department[];
  selected: string | undefined;
  onSelect: (id: string | undefined) => void;
  onMove: (move: Move) => void;
  empty: ReactNode;
}

/** Supports dragging by mouse, and by keyboard: Enter on the handle, arrow keys to the target, Enter. */
export function DepartmentTree(props: DepartmentTreeProps) {
  const { tree, departments, selected, onSelect, onMove, empty } = props;
  const hooks = useDragToMove(departments, onMove);
  const expanded = useMemo(() => departments.map(({ id }) => id), [departments]);
  const scroller = useRef<HTMLDivElement>(null);
  const scrolledTo = useScrollToSelected(scroller, tree, selected);
  if (tree.length === 0) return empty;
  return (
    <Virtualizer layout={ListLayout} layoutOptions={{ rowHeight: ROW_HEIGHT }}>
      <Tree
        // Remounts, so that departments that load later are expanded too.
        key={expanded.join(" ")}
        ref={scroller}
        className="tree panel"
        aria-label="Departments"
        items={tree}
        defaultExpandedKeys={expanded}
        selectionMode="single"
        selectedKeys={selected === undefined ? [] : [selected]}
        onSelectionChange={(keys) => {
          scrolledTo.current = keys === "all" ? undefined : [...keys].map(String)[0];
          onSelect(scrolledTo.current);
        }}
        dragAndDropHooks={hooks}
      >
        {renderBranch}
      </Tree>
    </Virtualizer>
  );
}

/** Scrolls once to a selected department, at its place with all expanded. Returns the one that needs no scrolling. */
function useScrollToSelected(
  scroller: RefObject<HTMLDivElement | null>,
  tree: readonly Branch[],
  selected: string | undefined,
): RefObject<string | undefined> {
  const scrolledTo = useRef<string>(undefined);
  useEffect(() => {
    const element = scroller.current;
    if (element === null || selected === scrolledTo.current) return;
    const at = listInOrder(tree).findIndex(({ id }) => id === selected);
    if (at < 0) return;
    const top = at * ROW_HEIGHT;
    // Wait until the list has its full height.
    const watch = new ResizeObserver(() => {
      const { scrollTop, clientHeight, scrollHeight } = element;
      if (scrollHeight < top + ROW_HEIGHT) return;
      watch.disconnect();
      scrolledTo.current = selected;
      if (top + ROW_HEIGHT > scrollTop + clientHeight || top < scrollTop)
        element.scrollTop = top - clientHeight / 2;
    });
    watch.observe(element.firstElementChild ?? element);
    return () => watch.disconnect();
  }, [scroller, tree, selected]);
  return scrolledTo;
}

function listInOrder(tree: readonly Branch[]): Department[] {
  return tree.flatMap(({ department, children }) => [department, ...listInOrder(children)]);
}

function renderBranch({ department, children }: Branch) {
  const { id, name, member_count, color, is_active } = department;
  return (
    <TreeItem key={id} id={id} textValue={name} className="branch">
      <TreeItemContent>
        {({ hasChildItems, isExpanded, level }) => (
          <div className="branch-line" style={{ paddingLeft: `${(level - 1) * 1.4}rem` }}>
            <Button slot="drag" className="bare drag" aria-label={`Move ${name}`}>
              ⠿
            </Button>
            {hasChildItems ? (
              <Button slot="chevron" className="bare chevron">
                {isExpanded ? "▾" : "▸"}
              </Button>
            ) : (
              <span className="chevron" />
            )}
            {color && <span className="swatch" style={{ background: color }} aria-hidden="true" />}
            <span className="clip">{name}</span>
            {!is_active && <span className="quiet">inactive</span>}
            <code className="quiet clip branch-id">{id}</code>
            <span className="quiet">{pluralize(member_count, "member")}</span>
          </div>
        )}
      </TreeItemContent>
      {children.map(renderBranch)}
    </TreeItem>
  );
}

/** A drop on a department moves the dragged one below it; a drop beside the list makes it top-level. */
function useDragToMove(departments: readonly Department[], onMove: (move: Move) => void): DragAndDropHooks {
  const dragged = useRef<string>(undefined);
  const { dragAndDropHooks } = useDragAndDrop({
    getItems: (keys) => [...keys].map((key) => ({ "text/plain": String(key) })),
    onDragStart: ({ keys }) => {
      dragged.current = String([...keys][0]);
    },
    getDropOperation: (target) =>
      target.type === "root" || target.dropPosition === "on" ? "move" : "cancel",
    onDrop: ({ target }) => {
      const department = departments.find(({ id }) => id === dragged.current);
      const parent = target.type === "root" ? null : departments.find(({ id }) => id === target.key);
      if (department && parent !== undefined) onMove({ department, parent });
    },
  });
  return dragAndDropHooks && allowAnyDrop(dragAndDropHooks);
}

/** react-aria forbids drops onto a descendant. Here the emulated API decides, so that its error for cycles is seen. */
function allowAnyDrop(hooks: DragAndDropHooks): DragAndDropHooks {
  const { useDroppableCollectionState: useDropState } = hooks;
  if (useDropState === undefined) return hooks;
  return {
    ...hooks,
    useDroppableCollectionState(props) {
      const state = useDropState(props);
      return {
        ...state,
        getDropOperation: (event) => {
          const isItself = event.target.type === "item" && event.draggingKeys.has(event.target.key);
          return isItself ? "cancel" : state.getDropOperation({ ...event, isInternal: false });
        },
      };
    },
  };
}

export type Department = StateRecord<"departments">;

interface Branch {
  department: Department;
  children: readonly Branch[];
}

export interface Move {
  department: Department;
  /** Null: top-level. */
  parent: Department | null;
}

export function buildTree(departments: readonly Department[]): readonly Branch[] {
  const childrenByParent = new Map<string | null, Department[]>();
  for (const department of departments)
    getOrAdd(childrenByParent, department.parent_id, () => []).push(department);
  const buildBranches = (parent: string | null): readonly Branch[] =>
    (childrenByParent.get(parent) ?? [])
      .toSorted((a, b) => a.name.localeCompare(b.name))
      .map((department) => ({ department, children: buildBranches(department.id) }));
  return buildBranches(null);
}
