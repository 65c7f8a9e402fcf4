#include "sim/rules.h"
#include "base/alloc.h"
struct xd_rules *xd_rules_new(const struct xd_layout *l,
                              const struct xd_sched_options *o,
                              struct xd_range w)
{
    (void)l;
    (void)o;
    (void)w;
    return xd_alloc(1, sizeof(struct xd_rules));
}
void xd_rules_free(struct xd_rules *r)
{
    xd_free(r);
}
bool xd_rules_failed(const struct xd_rules *r)
{
    (void)r;
    return false;
}
enum xd_rule xd_rules_event(struct xd_rules *r, const struct xd_sched_event *ev)
{
    (void)r;
    (void)ev;
    return XD_RULE_NONE;
}
enum xd_rule xd_rules_action(struct xd_rules *r,
                             const struct xd_sched_action *a, xd_usec now)
{
    (void)r;
    (void)a;
    (void)now;
    return XD_RULE_NONE;
}
