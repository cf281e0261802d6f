package revision

import (
	"github.com/sluicegit/sluice/gitcompat/odb"
	"github.com/sluicegit/sluice/gitcompat/oid"
)

// CheckConnected reports whether everything that ids reach is in db, taking
// for granted what haves reach. haves that do not exist are passed over. The
// error is a *MissingError where an object is missing.
func CheckConnected(db *odb.DB, ids, haves []oid.ID) error {
	return NewWalk(db, nil).CheckConnected(ids, haves)
}

// CheckConnected is the function of that name, with the grafts of w.
func (w *Walk) CheckConnected(ids, haves []oid.ID) error {
	known := make(map[oid.ID]bool, len(haves))
	for _, id := range haves {
		known[id] = true
	}
	req := Request{Objects: true, Sparse: true, VerifyBlobs: true}
	for _, id := range ids {
		if !known[id] {
			known[id] = true
			req.Tips = append(req.Tips, Tip{ID: id})
		}
	}
	if len(req.Tips) == 0 {
		return nil
	}
	for _, id := range haves {
		req.Tips = append(req.Tips, Tip{ID: id, Not: true})
	}
	return w.Run(&req, func(*Item) error { return nil })
}
